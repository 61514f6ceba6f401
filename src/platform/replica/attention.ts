import { mayCall } from '../../kernel/api/operation.ts'
import type { Attention, Source } from '../../kernel/attention.ts'
import { day, iso, minute, minuteText } from '../../kernel/db/clock.ts'
import { getSetting } from '../../kernel/db/queries.ts'
import { getReplica } from './show.ts'

/** A store that does not answer for a moment is no news. */
const SHOWN_AFTER_MS = minute
const at = { action: 'Open controller host', href: '/admin/controller' }

export const replicaBehind: Source = ({ actor, replica, wallClock }) => {
  const { error } = replica.state
  if (!mayCall(getReplica, actor) || !error || wallClock() - error.since < SHOWN_AFTER_MS) return []
  return [
    {
      level: 'bad',
      what: 'Changes are not copied to the replica.',
      effect: `${error.message} A takeover or restore would lose what changed since. It is tried again by itself.`,
      since: iso(error.since),
      ...at,
    },
  ]
}

/** Written by a restore or takeover into the database that it puts in place. */
export const RESTORED = 'replica.restored'
export type Restored = { on: number; upTo: number }
const RESTORED_SHOWN_MS = 3 * day

export const restoredLately: Source = ({ tx, actor, wallClock }) => {
  const restored = mayCall(getReplica, actor) ? (getSetting(tx, RESTORED) as Restored | undefined) : undefined
  if (!restored || wallClock() - restored.on > RESTORED_SHOWN_MS) return []
  const found: Attention = {
    level: 'warn',
    what: `The database was restored as it was at ${minuteText(restored.upTo)}.`,
    effect:
      'Nodes may have servers that it does not know, or lack some. Each node lists these differences, and no server ' +
      'is changed by itself. An address that such a server has is held, on the page of its pool, while its node says ' +
      'that it is in use.',
    since: iso(restored.on),
    action: 'Open nodes',
    href: '/admin/nodes',
  }
  return [found]
}

/** `2026-11-22 14:05:00 UTC` */
