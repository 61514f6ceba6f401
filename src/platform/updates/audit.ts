import { system } from '../../kernel/api/actor.ts'
import { auditLine } from '../../kernel/audit/audit.ts'
import { write } from '../../kernel/db/open.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { auditedUntil, keepAuditedUntil } from './queries.ts'
import { startUpdate } from './start.ts'

/**
 * Puts updates that root has ended or refused into the audit log, each once, also those of the command line. The
 * database of before an update that went back does not have its line yet.
 */
export function auditEnded({ db, app }: Pick<ScheduleContext, 'db' | 'app'>) {
  const until = auditedUntil(db) ?? ''
  const ended = app.updates.machine.history().filter(({ endedAt }) => endedAt > until)
  if (!ended.length) return
  write(db, (tx) => {
    for (const { from, to, by, startedAt, endedAt, result, reason } of ended.toReversed())
      auditLine(tx, app, {
        actor: system,
        operation: startUpdate.id,
        target: null,
        from: '',
        requestId: '',
        result: result === 'done' ? 'done' : 'update_refused',
        details: { from, to, by, startedAt, endedAt, outcome: result, ...(reason && { reason: reason.words }) },
      })
    keepAuditedUntil(
      tx,
      ended
        .map(({ endedAt }) => endedAt)
        .toSorted()
        .at(-1)!,
    )
  })
}
