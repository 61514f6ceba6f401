import { eq } from 'drizzle-orm'
import { queriesOfGoods } from '../../../catalog/goods-queries.ts'
import { workloadReference } from '../../../fleet/workloads/queries.ts'
import type { AuditTarget } from '../../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { reference } from '../../../kernel/db/reference.ts'
import { rowBy, updating } from '../../../kernel/db/rows.ts'
import { backupsOf } from '../queries.ts'
import type { Backup } from '../tables.ts'
import { backupPlans, type ServerBackupPlan, serverBackupPlans } from './tables.ts'

export const planReference = reference(backupPlans, ['name', 'drilledAt'])
export const backupPlanTarget: AuditTarget = { prefix: 'bpl', name: (id) => planReference.value('name', id) }
export const backupPlanById = rowBy(backupPlans, backupPlans.id)

export const backupPlanQueries = queriesOfGoods(backupPlans)

const statements = prepared(({ $client }) => ({
  serversOn: $client.prepare<{ n: number }, [string]>(
    'SELECT count(*) AS n FROM server_backup_plans WHERE plan_id = ?',
  ),
  retime: $client.prepare('UPDATE server_backup_plans SET due_at = NULL, tries_until = NULL WHERE plan_id = ?'),
  usingTarget: $client.prepare<{ name: string }, [string]>(
    `SELECT name FROM backup_plans p WHERE target_id = ? AND (archived = 0
       OR EXISTS (SELECT 1 FROM server_backup_plans s WHERE s.plan_id = p.id)) ORDER BY name LIMIT 1`,
  ),
}))
/** Notes what a restore drill of a backup of the plan found. */
export const noteDrillOfPlan = updating(backupPlans, backupPlans.id)
/** How many servers are on the plan. */
export const serversOnBackupPlan = (tx: Db, planId: string): number => statements(tx).serversOn.get(planId)!.n
/** The times of the plan have changed: the next backup of each of its servers is worked out anew. */
export const retimeServers = (tx: Tx, planId: string) => void statements(tx).retime.run(planId)
/** The name of a plan that can be chosen, or has servers, and stores its backups there. */
export const planUsingTarget = (tx: Db, targetId: string): string | undefined =>
  statements(tx).usingTarget.get(targetId)?.name

// ---------------------------------------------------------------- servers on plans
export const serverBackupPlan = rowBy(serverBackupPlans, serverBackupPlans.serverId)
export const updateServerBackupPlan = updating(serverBackupPlans, serverBackupPlans.serverId)
export const removeServerBackupPlan = (tx: Tx, serverId: string) =>
  void tx.delete(serverBackupPlans).where(eq(serverBackupPlans.serverId, serverId)).run()
/** Puts the server on the plan, also when it is on another. */
export const putServerBackupPlan = (
  tx: Tx,
  row: Pick<ServerBackupPlan, 'serverId' | 'planId' | 'assignedAt' | 'dueAt'>,
) =>
  void tx
    .insert(serverBackupPlans)
    .values(row)
    .onConflictDoUpdate({
      target: serverBackupPlans.serverId,
      set: { ...row, triesUntil: null, retainedBackupId: null },
    })
    .run()

const turns = prepared(({ $client }) => ({
  untimed: $client.prepare<Pick<ServerBackupPlan, 'serverId' | 'planId'>, [number]>(
    'SELECT server_id AS serverId, plan_id AS planId FROM server_backup_plans WHERE due_at IS NULL LIMIT ?',
  ),
  due: $client.prepare<DueServer, [number]>(
    `SELECT s.server_id AS serverId, p.target_id AS targetId, s.due_at AS dueAt,
       ${workloadReference.columns('w', { nodeId: 'nodeId', ownerId: 'ownerId' })}
     FROM server_backup_plans s JOIN backup_plans p ON p.id = s.plan_id ${workloadReference.join('w', 's.server_id')}
     WHERE s.due_at <= ? ORDER BY s.due_at`,
  ),
  atWork: $client.prepare<AtWork & { state: 'running' | 'deleting' }, []>(
    `SELECT server_id AS serverId, node_id AS nodeId, target_id AS targetId, owner_id AS ownerId, state FROM backups
     WHERE state IN ('running', 'deleting')`,
  ),
  toRetain: $client.prepare<ToRetain, []>(
    `SELECT s.server_id AS serverId, b.id AS lastBackupId, b.owner_id AS ownerId, b.target_id AS targetId
     FROM server_backup_plans s INDEXED BY server_backup_plans_to_retain
     CROSS JOIN backups b ON b.id = s.last_backup_id
     WHERE s.retained_backup_id IS NOT s.last_backup_id AND b.state = 'ready' LIMIT 100`,
  ),
  endPlanned: $client.prepare(
    `UPDATE backups SET keep_until = ? WHERE server_id = ? AND owner_id = ? AND kind = 'scheduled'
       AND keep_until IS NULL`,
  ),
  keepPlanned: $client.prepare(
    "UPDATE backups SET keep_until = NULL WHERE server_id = ? AND owner_id = ? AND kind = 'scheduled'",
  ),
}))
type AtWork = { serverId: string; targetId: string; nodeId: string; ownerId: string }
type DueServer = AtWork & { dueAt: number }
type ToRetain = { serverId: string; lastBackupId: string; ownerId: string; targetId: string }

/** Servers whose plan has changed since their next backup was worked out. */
export const serversToRetime = (tx: Db, limit: number) => turns(tx).untimed.all(limit)
/** Servers whose backup is due, the longest waiting first. */
export const dueServers = (tx: Db, now: number): DueServer[] => turns(tx).due.all(now)
/** Backups that are being made or deleted. */
export const backupsAtWork = (tx: Db) => turns(tx).atWork.all()
/** Servers whose plan has made a backup since old ones were chosen to go. */
export const serversToRetain = (tx: Db): ToRetain[] => turns(tx).toRetain.all()
type OwnedServer = { id: string; ownerId: string }
/** The whole backups that plans have made of a server under its present owner. */
export const plannedBackups = (tx: Db, server: OwnedServer): Backup[] =>
  backupsOf(tx, server).filter(({ kind, state }) => kind === 'scheduled' && state === 'ready')
/** The backups that plans have made of a server under its present owner go at this time, in ms. */
export const endPlannedBackups = (tx: Tx, { id, ownerId }: OwnedServer, at: number) =>
  void turns(tx).endPlanned.run(at, id, ownerId)
/** The backups that plans have made of a server under its present owner stay for as long as its plan keeps them. */
export const keepPlannedBackups = (tx: Tx, { id, ownerId }: OwnedServer) => void turns(tx).keepPlanned.run(id, ownerId)
