import { inArray } from 'drizzle-orm'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { isOpenJob, jobReference } from '../../../kernel/jobs/queries.ts'
import { planReference } from '../plans/queries.ts'
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
    `SELECT b.id FROM backups b WHERE b.state = 'ready'
     ORDER BY coalesce(CASE WHEN b.plan_id IS NULL
         THEN (SELECT max(drilled_at) FROM backups WHERE plan_id IS NULL)
         ELSE ${planReference.value('drilledAt', 'b.plan_id')} END, 0),
       coalesce(b.drilled_at, 0), random() LIMIT ${MOST_CANDIDATES}`,
  ),
  atWork: $client.prepare<{ id: string }, []>(
    `SELECT b.id FROM backups b ${jobReference.join('j', 'b.drill_job_id')}
     WHERE b.drill_job_id IS NOT NULL AND ${isOpenJob('j')}`,
  ),
  failed: $client.prepare<{ id: string }, [number]>(
    `SELECT id FROM backups WHERE drill_error IS NOT NULL AND state = 'ready' ORDER BY id DESC LIMIT +?`,
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
