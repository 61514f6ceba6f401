// Changes of a server that its firewall follows, in the transaction of the change.

import { serverById } from '../../compute/server-records/model.ts'
import { system } from '../../kernel/api/actor.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { EmittedEvent } from '../../kernel/jobs/emitted-event.ts'
import { applyFirewall, detachShared } from './apply.ts'
import { rememberLimits } from './limits.ts'

/** A new owner does not get the shared firewalls of the old one; a new package brings its limits. */
export function followServer(tx: Tx, { clock }: AppContext, { type, subjectId }: EmittedEvent) {
  if (type !== 'server.created' && type !== 'server.owner_changed' && type !== 'server.resized') return
  const server = serverById(tx, subjectId)
  if (!server) return
  rememberLimits(tx, server.packageId)
  if (type === 'server.created') return
  const start = { by: system, now: clock() }
  if (type === 'server.owner_changed') detachShared(tx, server, start)
  else applyFirewall(tx, server, start)
}
