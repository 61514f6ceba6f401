import { visible } from '../../compute/workloads/access.ts'
import { areas } from '../../kernel/api/access.ts'
import { day, iso } from '../../kernel/db/clock.ts'
import { MOST_SHOWN, type Source } from '../overview/attention.ts'
import { seen } from './model.ts'

/** A failure nobody acted on is history after this long. */
const FAILURE_SHOWN_MS = 7 * day

export const stuckJobs: Source = ({ tx, actor }) => {
  const { where, values } = seen(tx, actor)
  return tx.$client
    .query<{ id: string; title: string; words: string; at: number }, string[]>(
      `SELECT j.id, j.title, j.error_message AS words, j.created_at AS at FROM jobs j LEFT JOIN workloads w ON w.id = j.subject_id
       WHERE j.state IN ('running', 'undoing') AND j.error_code IS NOT NULL AND j.tries > 0 AND (${where}) ORDER BY j.id LIMIT ${MOST_SHOWN}`,
    )
    .all(...values)
    .map(({ id, title, words, at }) => ({
      level: 'bad',
      what: `${title}: a step keeps failing and is tried again.`,
      effect: words,
      since: iso(at),
      action: 'Open job',
      href: `${areas[actor.kind]}/jobs/${id}`,
    }))
}

/**
 * Of one's own servers, where nothing was done since. A failed installation shows as a failed server; one of a server that waits
 * again shows here. Staff have too many to be told of each: their jobs are counted.
 */
export const failedJobs: Source = ({ tx, actor, clock }) => {
  if (actor.kind === 'staff') return []
  const { where, values } = visible(tx, actor)
  return tx.$client
    .query<{ id: string; title: string; words: string | null; at: number }, (string | number)[]>(
      `SELECT j.id, j.title, j.error_message AS words, j.finished_at AS at FROM workloads w JOIN jobs j ON j.id = (SELECT max(id) FROM jobs WHERE subject_id = w.id)
       WHERE ${where} AND w.lifecycle <> 'failed' AND j.state = 'failed' AND j.finished_at > ? ORDER BY j.id DESC LIMIT ${MOST_SHOWN}`,
    )
    .all(...values, clock() - FAILURE_SHOWN_MS)
    .map(({ id, title, words, at }) => ({
      level: 'bad',
      what: `${title}: failed.`,
      effect: `${words ?? ''} What it had begun was taken back.`.trim(),
      since: iso(at),
      action: 'Open job',
      href: `${areas[actor.kind]}/jobs/${id}`,
    }))
}
