// What needs attention, in one shape for every kind of account, and the sources that more than one kind has.
import { type Static, Type as t } from 'typebox'
import type { Actor } from '../kernel/api/actor.ts'
import { nullable, time } from '../kernel/api/operation.ts'
import { iso } from '../kernel/db/clock.ts'
import type { Db } from '../kernel/db/open.ts'
import { visible } from '../servers/server.ts'

/** What, since when, what it means, and one thing to do about it. */
export const attention = t.Object({
  level: t.Enum(['bad', 'warn']),
  what: t.String(),
  effect: t.String(),
  since: nullable(time),
  action: t.String(),
  href: t.String(),
})
export type Attention = Static<typeof attention>

/** One line of a checklist; `done` is a fact, nobody ticks it. */
export const step = t.Object({ title: t.String(), words: t.String(), done: t.Boolean(), href: t.String() })

/** As many of one kind as are read before one begins with the first. */
export const MOST_SHOWN = 20

export const worstFirst = (found: Attention[]): Attention[] => found.sort((a, b) => (a.level === b.level ? 0 : a.level === 'bad' ? -1 : 1))

/** `area` is where the pages of servers are for this actor: `/admin`, or nothing. */
export const failedServers = (tx: Db, actor: Actor, area: string): Attention[] => {
  const { where, values } = visible(tx, actor)
  return tx.$client
    .query<{ id: string; hostname: string; failure: string | null }, any[]>(
      `SELECT s.id, s.hostname, s.failure FROM servers s WHERE ${where} AND s.status = 'failed' ORDER BY s.id DESC LIMIT ${MOST_SHOWN}`,
    )
    .all(...values)
    .map((s) => ({
      level: 'bad',
      what: `The installation of ${s.hostname} failed.`,
      effect: s.failure ?? 'Reinstall or terminate it.',
      since: null,
      action: 'Open server',
      href: `${area}/servers/${s.id}`,
    }))
}

type StuckJob = { id: string; title: string; errorMessage: string; createdAt: number }
export const stuckJobs = (tx: Db, actor: Actor, area: string): Attention[] => {
  const { where, values } = visible(tx, actor)
  // A job of no server is work on a node.
  const ofNodes = actor.permissions.has('nodes.read') ? ' OR j.server_id IS NULL' : ''
  return tx.$client
    .query<StuckJob, any[]>(
      `SELECT j.id, j.title, j.error_message AS errorMessage, j.created_at AS createdAt FROM jobs j LEFT JOIN servers s ON s.id = j.server_id
       WHERE j.state IN ('running', 'undoing') AND j.error_code IS NOT NULL AND j.tries > 0 AND ((j.server_id IS NOT NULL AND ${where})${ofNodes}) ORDER BY j.id LIMIT ${MOST_SHOWN}`,
    )
    .all(...values)
    .map((j) => ({
      level: 'bad',
      what: `${j.title}: a step keeps failing and is tried again.`,
      effect: j.errorMessage,
      since: iso(j.createdAt),
      action: 'Open job',
      href: `${area}/jobs/${j.id}`,
    }))
}
