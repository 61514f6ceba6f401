// Counts of jobs for a monitoring system.
import { type Db, prepared } from '../db/open.ts'
import { openStates } from './tables.ts'

const statements = prepared(({ $client }) => ({
  open: $client.prepare<{ state: string; n: number; oldest: number }, []>(
    `SELECT state, count(*) AS n, min(created_at) AS oldest FROM jobs
     WHERE state IN (${openStates.map((state) => `'${state}'`).join(', ')}) GROUP BY state`,
  ),
  ended: $client.prepare<{ state: string; n: number }, [string, string, number]>(
    'SELECT state, count(*) AS n FROM jobs WHERE state IN (?, ?) AND finished_at >= ? GROUP BY state',
  ),
}))

/** Jobs by open state, and when the oldest that waits for its turn was created (milliseconds); null: none waits. */
export function backlog(db: Db): { states: Record<string, number>; oldest: number | null } {
  const rows = statements(db).open.all()
  const states = Object.fromEntries(openStates.map((state) => [state, 0]))
  for (const { state, n } of rows) states[state] = n
  return { states, oldest: rows.find(({ state }) => state === 'queued')?.oldest ?? null }
}

/** How many jobs succeeded and failed since then (milliseconds). */
export function endedSince(db: Db, since: number): Record<string, number> {
  const states: Record<string, number> = { succeeded: 0, failed: 0 }
  for (const { state, n } of statements(db).ended.all('succeeded', 'failed', since)) states[state] = n
  return states
}
