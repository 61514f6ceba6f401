import { inArray } from 'drizzle-orm'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { isOpenJob, jobReference } from '../../../kernel/jobs/queries.ts'
import { type Backup, backups } from '../tables.ts'
import { type DrillNight, drillNights } from './tables.ts'

/** Null before the first night. */
export const lastNight = (tx: Db): DrillNight | undefined => tx.select().from(drillNights).get()
export const noteNight = (tx: Tx, given: Partial<Omit<DrillNight, 'id'>>) =>
  void tx
    .insert(drillNights)
    .values({ id: 1, ...given })
    .onConflictDoUpdate({ target: drillNights.id, set: given })
    .run()

const MOST_CANDIDATES = 50
const statements = prepared(({ $client }) => ({
  // Of the plan that waits longest for a drill, those backups that wait longest, in any order.
  candidates: $client.prepare<{ id: string }, []>(
    `SELECT b.id FROM backups b JOIN (SELECT plan_id, max(drilled_at) AS at FROM backups GROUP BY plan_id) p
       ON p.plan_id IS b.plan_id WHERE b.state = 'ready'
     ORDER BY coalesce(p.at, 0), coalesce(b.drilled_at, 0), random() LIMIT ${MOST_CANDIDATES}`,
  ),
  atWork: $client.prepare<{ id: string }, []>(
    `SELECT b.id FROM backups b ${jobReference.join('j', 'b.drill_job_id')}
     WHERE b.drill_job_id IS NOT NULL AND ${isOpenJob('j')}`,
  ),
  failed: $client.prepare<{ id: string }, [number]>(
    `SELECT id FROM backups WHERE drill_error IS NOT NULL AND state = 'ready' ORDER BY id DESC LIMIT +?`,
  ),
  ofPlan: $client.prepare<{ at: number | null }, [string]>(
    'SELECT max(proven_at) AS at FROM backups WHERE plan_id = ?',
  ),
  proven: $client.prepare<{ id: string }, []>(
    'SELECT id FROM backups WHERE proven_at IS NOT NULL ORDER BY proven_at DESC LIMIT 1',
  ),
}))
const inOrder = (tx: Db, ids: readonly { id: string }[]): Backup[] => {
  const rows = tx
    .select()
    .from(backups)
    .where(
      inArray(
        backups.id,
        ids.map(({ id }) => id),
      ),
    )
    .all()
  return ids.flatMap(({ id }) => rows.find((row) => row.id === id) ?? [])
}
/** Backups for the next drill, the first one before all others. */
export const drillCandidates = (tx: Db): Backup[] => inOrder(tx, statements(tx).candidates.all())
/** Backups that are restored in a drill now. */
export const drillsAtWork = (tx: Db): Backup[] => inOrder(tx, statements(tx).atWork.all())
/** Backups whose last drill failed, newest first. */
export const failedDrills = (tx: Db, limit: number): Backup[] => inOrder(tx, statements(tx).failed.all(limit))
/** When a backup of the plan was last proven by a drill, in ms; null: never. */
export const planProvenAt = (tx: Db, planId: string): number | null => statements(tx).ofPlan.get(planId)!.at
/** The backup that was proven last. */
export const lastProven = (tx: Db): Backup | undefined => inOrder(tx, statements(tx).proven.all())[0]
