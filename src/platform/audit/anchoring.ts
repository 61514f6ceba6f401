// The anchor of the audit log: moved on each minute and at an orderly stop. Where it contradicts the log it stays, and
// Needs attention says so.
import type { AppContext } from '../../kernel/api/operation.ts'
import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { headOf } from '../../kernel/audit/chain.ts'
import { type Db, read, troubleOf, write } from '../../kernel/db/open.ts'
import { getSetting, putSetting } from '../../kernel/db/queries.ts'
import { log } from '../../kernel/log.ts'
import { verifyAudit } from './verify.ts'

/** The setting that says that this log has had an anchor. */
const ANCHORED = 'audit.anchored'

/** Moves the anchor on. The newest line must be on disk before the anchor names it: a commit is. */
export function moveAnchorOn(db: Db, { auditAnchor, secrets, clock }: AppContext) {
  if (troubleOf(db)) return
  const head = read(db, headOf)
  const result = auditAnchor.moveOn(db, secrets, clock())
  const isFirst = read(db, (tx) => getSetting(tx, ANCHORED)) === undefined
  if (isFirst) write(db, (tx) => putSetting(tx, ANCHORED, true))
  // A new installation begins without one.
  if (result === 'begun' && head && !isFirst)
    log.warning('the audit log had no anchor any more: a new one begins', { line: head.seq, file: auditAnchor.path })
  if (result === 'refused')
    log.error('the audit log contradicts its anchor: newest lines are missing or were replaced', {
      ...auditAnchor.state(db, secrets),
      file: auditAnchor.path,
    })
}

/** Lines are missing at the end of the log, or the log was replaced by another. */
export const brokenAnchor: Source = ({ tx, actor, auditAnchor, secrets }) => {
  if (!mayCall(verifyAudit, actor)) return []
  const anchor = auditAnchor.state(tx, secrets)
  if (!anchor || anchor.state === 'matches') return []
  const differs = anchor.state === 'differs'
  return [
    {
      level: 'bad',
      what: differs
        ? 'The newest lines of the audit log are missing or were replaced.'
        : 'The anchor of the audit log is not signed with a key of the key file.',
      effect:
        (differs
          ? `Line ${anchor.line} was there at ${anchor.at} and is not any more. Compare with a backup, and find out ` +
            'who can write the database.'
          : 'Somebody changed it, or the key is gone. Until it is right, missing lines at the end do not show.') +
        ` A new anchor begins within a minute after you have moved ${auditAnchor.path} away.`,
      since: null,
      action: 'Verify the audit log',
      href: '/admin/audit/verify',
    },
  ]
}
