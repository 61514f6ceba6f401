import { areas } from '../../identity/accounts/areas.ts'
import { visible } from '../../identity/team/access.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { day, iso } from '../../kernel/db/clock.ts'
import { lastFailedJobs, stuckJobRows, visibleJobs } from './queries.ts'

/** A failed job is shown for this long. */
const FAILURE_SHOWN_MS = 7 * day

export const stuckJobs: Source = ({ tx, actor }) => {
  return stuckJobRows(tx, visibleJobs(tx, actor), MOST_SHOWN).map(({ id, title, words, at }) => ({
    level: 'bad',
    what: `${title}: a step keeps failing and is tried again.`,
    effect: words,
    since: iso(at),
    action: 'Open job',
    href: `${areas[actor.kind]}/jobs/${id}`,
  }))
}

/**
 * Failed jobs of the servers that the actor sees, while no newer job ran. An installation that failed shows as a failed
 * server; one of a server that waits for its setup again shows here. Staff see too many servers: their jobs are
 * counted.
 */
export const failedJobs: Source = ({ tx, actor, clock }) => {
  if (actor.kind === 'staff') return []
  return lastFailedJobs(tx, visible(tx, actor), clock() - FAILURE_SHOWN_MS, MOST_SHOWN).map(
    ({ id, title, words, at }) => ({
      level: 'bad',
      what: `${title}: failed.`,
      effect: `${words ?? ''} What it had begun was taken back.`.trim(),
      since: iso(at),
      action: 'Open job',
      href: `${areas[actor.kind]}/jobs/${id}`,
    }),
  )
}
