import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { isAnotherWaiting } from '../../kernel/jobs/queries.ts'
import { inEvent, load } from '../server-records/model.ts'

/**
 * Tells that an installation failed and left the server without a system. One that a suspension stopped, or another job
 * replaced, has not failed: it goes on, or what replaced it tells.
 */
export function tellFailed(
  tx: Tx,
  { serverId, jobId, reason, now }: { serverId: string; jobId: string; reason: string | null; now: number },
) {
  const { lifecycle } = load(tx, serverId)
  if (lifecycle === 'active' || lifecycle === 'terminated' || isAnotherWaiting(tx, jobId, serverId)) return
  const { concerning, data } = inEvent(tx, load(tx, serverId))
  emit(tx, now, 'server.install_failed', concerning, { ...data, error: reason ?? 'It was stopped.' })
}
