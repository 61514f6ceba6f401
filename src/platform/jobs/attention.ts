import { areas } from '../../identity/account-records/areas.ts'
import { visible } from '../../identity/team/access.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { day, hour, iso, minute } from '../../kernel/db/clock.ts'
import { plainCause } from '../../kernel/jobs/failures.ts'
import { AWAY_MS } from '../../kernel/jobs/runner/away.ts'
import { count } from '../../kernel/words.ts'
import { backlogOf, lastFailedJobs, stuckJobRows, visibleJobs, waitingJobRows } from './queries.ts'

/** A failed job is shown for this long. */
const FAILURE_SHOWN_MS = 7 * day

export const stuckJobs: Source = ({ tx, actor, registry }) => {
  return stuckJobRows(tx, visibleJobs(tx, actor), MOST_SHOWN).map(({ id, title, code, words, at }) => ({
    level: 'bad',
    what: `${title}: a step keeps failing and is being retried.`,
    effect: plainCause(registry.failures, { code, message: words ?? '' }),
    since: iso(at),
    action: 'Open job',
    href: `${areas[actor.kind]}/jobs/${id}`,
  }))
}

/** Half of the time after which a job that can still be undone gives up. */
const WAITED_MS = AWAY_MS / 2

/** Jobs past their point of no return that wait for a node: nothing ends them but that node, or its loss. */
export const waitingJobs: Source = ({ tx, actor, clock }) =>
  waitingJobRows(tx, visibleJobs(tx, actor), clock() - WAITED_MS, MOST_SHOWN).map(({ id, title, at }) => ({
    level: 'bad',
    what: `${title}: it waits for a node that is away.`,
    effect: 'It cannot be undone any more. It goes on when the node is back, or is declared lost.',
    since: iso(at),
    action: 'Open job',
    href: `${areas[actor.kind]}/jobs/${id}`,
  }))

/** Backups and copies of a whole node take hours, and people do not wait for them. */
const BACKLOG_AFTER_MS = { others: 10 * minute, bulk: 2 * hour }

/** Jobs that have been queued for too long. Only staff can do something about it. */
export const jobBacklog: Source = ({ tx, actor, clock }) => {
  if (actor.kind !== 'staff') return []
  const seen = visibleJobs(tx, actor)
  const rows = [
    { what: ['job', 'jobs'], longest: '10 minutes', ...backlogOf(tx, seen, false, clock() - BACKLOG_AFTER_MS.others) },
    {
      what: ['backup or copy', 'backups or copies'],
      longest: '2 hours',
      ...backlogOf(tx, seen, true, clock() - BACKLOG_AFTER_MS.bulk),
    },
  ]
  return rows.flatMap(({ what: [one, many], longest, jobs, since }) =>
    jobs === 0 || since === null
      ? []
      : [
          {
            level: 'warn' as const,
            what: `${count(jobs, one!, many)} queued for more than ${longest}.`,
            effect: 'They begin when others on their nodes end. Look at which jobs run long, or spread the work.',
            since: iso(since),
            action: 'Open jobs',
            href: '/admin/jobs?state=running',
          },
        ],
  )
}

/**
 * Failed jobs of the servers that the actor sees, while no newer job ran. An installation that failed shows as a failed
 * server; one of a server that waits for its setup again shows here. Staff see too many servers: their jobs are
 * counted.
 */
export const failedJobs: Source = ({ tx, actor, clock, registry }) => {
  if (actor.kind === 'staff') return []
  return lastFailedJobs(tx, visible(tx, actor), clock() - FAILURE_SHOWN_MS, MOST_SHOWN).map(
    ({ id, title, code, words, at }) => ({
      level: 'bad',
      what: `${title}: failed.`,
      effect: code === null ? '' : plainCause(registry.failures, { code, message: words ?? '' }),
      since: iso(at),
      action: 'Open job',
      href: `${areas[actor.kind]}/jobs/${id}`,
    }),
  )
}
