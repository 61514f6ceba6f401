import { eq, inArray } from 'drizzle-orm'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { isOpenJob, jobReference } from '../../../kernel/jobs/queries.ts'
import { planReference } from '../plans/queries.ts'
import { type Backup, backups } from '../tables.ts'
import { type DrillFailure, type DrillNight, drillFailures, drillNights } from './tables.ts'

/** Null before the first night. */
export const lastNight = (tx: Db): DrillNight | undefined => tx.select().from(drillNights).get()
export const noteNight = (tx: Tx, given: Partial<Omit<DrillNight, 'id'>>) =>
  void tx
    .insert(drillNights)
    .values({ id: 1, ...given })
    .onConflictDoUpdate({ target: drillNights.id, set: given })
    .run()

export const keepDrillFailure = (tx: Tx, row: DrillFailure) =>
  void tx.insert(drillFailures).values(row).onConflictDoUpdate({ target: drillFailures.serverId, set: row }).run()
export const forgetDrillFailure = (tx: Tx, serverId: string) =>
  void tx.delete(drillFailures).where(eq(drillFailures.serverId, serverId)).run()

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
  ofDeleted: $client.prepare<DrillFailure, [number]>(
    `SELECT f.server_id AS serverId, f.server_name AS serverName, f.owner_id AS ownerId, f.backup_id AS backupId,
       f.job_id AS jobId, f.words, f.failed_at AS failedAt FROM drill_failures f
     WHERE NOT EXISTS (SELECT 1 FROM backups b WHERE b.id = f.backup_id AND b.state = 'ready') AND EXISTS (
       SELECT 1 FROM backups b WHERE b.server_id = f.server_id AND b.owner_id = f.owner_id AND b.state = 'ready')
     ORDER BY f.failed_at DESC LIMIT +?`,
  ),
  failed: $client.prepare<{ id: string }, [number]>(
    `SELECT id FROM backups WHERE drill_error IS NOT NULL AND state = 'ready' ORDER BY id DESC LIMIT +?`,
  ),
}))
/**
 * Failed drills of backups that are deleted, newest first, of servers that have others: whether those work is unknown.
 */
export const failuresOfDeleted = (tx: Db, limit: number): DrillFailure[] => statements(tx).ofDeleted.all(limit)
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
