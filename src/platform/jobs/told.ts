// The provider of an owner gets notices about failed jobs: staff about those of every owner, a reseller about those of
// its customers. Failures of one minute are one notice. It takes the place of the last one as long as nobody has read
// that, and only a first one is mailed: a storage that fails at night makes one mail and not a hundred.
import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { activeStaffWith } from '../../identity/account-records/staff-with.ts'
import { type Holder, type NoticeDeclaration, notify } from '../../identity/notices/notify.ts'
import { withdrawUnread } from '../../identity/notices/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { hour } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { plainCause } from '../../kernel/jobs/failures.ts'
import { count } from '../../kernel/words.ts'
import { type FailureToTell, failuresToTell, noteTold } from './queries.ts'

export const jobNotices = {
  job_failed: {
    when: 'a job on a server of a customer fails',
    kinds: ['staff', 'reseller'],
    right: 'servers.see_all',
    mail: 'optional',
  },
} as const satisfies Record<string, NoticeDeclaration>

/** Older failures are not told: the controller was off, and what was to be seen has been seen. */
const TOLD_WITHIN_MS = hour
const MOST_TOLD = 200
const MOST_NAMED = 5

/** Tells of what has failed since it was called before. */
export function tellFailures(db: Db, app: AppContext) {
  const since = app.clock() - TOLD_WITHIN_MS
  if (failuresToTell(db, since, 1).length === 0) return
  write(db, (tx) => {
    const failed = failuresToTell(tx, since, MOST_TOLD)
    for (const to of activeStaffWith(tx, app.registry, 'servers.see_all'))
      tellOne(tx, app, { ...to, kind: 'staff' }, failed)
    for (const [resellerId, theirs] of Map.groupBy(failed, (job) => job.resellerId)) {
      const reseller = resellerId === null ? undefined : accountById(tx, resellerId)
      if (reseller && reseller.disabledAt === null) tellOne(tx, app, { ...reseller, kind: 'reseller' }, theirs)
    }
    for (const { id } of failed) noteTold(tx, id, app.clock())
  })
}

type Told = Holder & { kind: 'staff' | 'reseller' }
function tellOne(tx: Tx, app: AppContext, to: Told, failed: readonly FailureToTell[]) {
  const [first] = failed
  const unread = withdrawUnread(tx, to.id, 'job_failed')
  const isOne = failed.length === 1 && !unread
  const words = failed
    .slice(0, MOST_NAMED)
    .map(({ title, code, message }) => `${title}: ${plainCause(app.registry.failures, { code, message })}`)
  const more = failed.length - words.length
  notify(
    tx,
    app,
    to,
    'job_failed',
    {
      subject: isOne
        ? `${first!.title} failed`
        : `${count(failed.length, 'job')} failed${unread ? ', and others before' : ''}`,
      paragraphs: [
        ...words,
        ...(more > 0 ? [`And ${count(more, 'other')}.`] : []),
        'The owners read the cause on the page of the job. You are not mailed again before you have read this.',
      ],
      button: isOne
        ? { words: 'Open job', path: `${areas[to.kind]}/jobs/${first!.id}` }
        : { words: 'See failed jobs', path: `${areas[to.kind]}/jobs?state=failed` },
    },
    { isMailed: !unread },
  )
}
