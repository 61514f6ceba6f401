import { and, desc, eq, ne, sql } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { encryptedColumn } from '../../kernel/db/encrypted.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type BackupTarget, backupTargetLogins, backupTargets, type NodeLogin } from './tables.ts'

type WithId = { id: string }
export const encryptedSecret = encryptedColumn(backupTargets, 'encryptedSecret', ({ id }: WithId) => `${id} secret`)
export const encryptedPassword = encryptedColumn(
  backupTargets,
  'encryptedPassword',
  ({ id }: WithId) => `${id} password`,
)
export const encryptedLoginSecret = encryptedColumn(
  backupTargetLogins,
  'encryptedSecret',
  ({ id }: WithId) => `${id} login secret`,
)

const targetReference = reference(backupTargets, ['name'])
export const backupTargetOfAudit: AuditTarget = { prefix: 'bkt', name: (id) => targetReference.value('name', id) }
export const backupTargetById = rowBy(backupTargets, backupTargets.id)
export const pageOfBackupTargets = <Shown>(call: ReadContext, show: (row: BackupTarget) => Shown) =>
  newest({ call, name: 'backup targets', table: backupTargets, where: undefined, show })

/** Those whose removal waits for a second person. */
export const backupTargetsHeld = (tx: Db): BackupTarget[] =>
  tx.select().from(backupTargets).where(eq(backupTargets.removalHeld, true)).all()
/** All targets of a kind. */
export const backupTargetsOf = (tx: Db, kind: BackupTarget['kind']): BackupTarget[] =>
  tx.select().from(backupTargets).where(eq(backupTargets.kind, kind)).all()
/** Targets whose last test found a fault or could not be made, the newest first. */
export const failingTargetRows = (tx: Db, most: number): BackupTarget[] =>
  tx
    .select()
    .from(backupTargets)
    .where(ne(backupTargets.testFinding, 'works'))
    .orderBy(desc(backupTargets.id))
    .limit(most)
    .all()

/** Throws a unique violation when a target has this name. */
export const insertBackupTarget = (tx: Tx, row: typeof backupTargets.$inferInsert): BackupTarget =>
  tx.insert(backupTargets).values(row).returning().get()
/** Throws a unique violation when a target has this name. */
export const updateBackupTarget = (tx: Tx, row: BackupTarget, given: Partial<BackupTarget>): BackupTarget =>
  patched(tx, backupTargets, row, given)
/** The target of backups that no plan makes. */
export const defaultBackupTarget = (tx: Db): BackupTarget | undefined =>
  tx.select().from(backupTargets).where(sql`${backupTargets.isDefault} = 1`).get()
/** Makes it the default target, in place of the one before. */
export function setDefaultBackupTarget(tx: Tx, row: BackupTarget): BackupTarget {
  tx.update(backupTargets).set({ isDefault: false }).where(sql`${backupTargets.isDefault} = 1`).run()
  return updateBackupTarget(tx, row, { isDefault: true })
}
/** With the logins that nodes have there. */
export function deleteBackupTarget(tx: Tx, id: string) {
  tx.delete(backupTargetLogins).where(eq(backupTargetLogins.targetId, id)).run()
  tx.delete(backupTargets).where(eq(backupTargets.id, id)).run()
}

const ofNode = (targetId: string, nodeId: string) =>
  and(eq(backupTargetLogins.targetId, targetId), eq(backupTargetLogins.nodeId, nodeId))
/** The login that this node alone has at the target. */
export const loginOfNode = (tx: Db, targetId: string, nodeId: string): NodeLogin | undefined =>
  tx.select().from(backupTargetLogins).where(ofNode(targetId, nodeId)).get()
/** The nodes that have a login of their own at the target. */
export const loginsAt = (tx: Db, targetId: string): NodeLogin[] =>
  tx.select().from(backupTargetLogins).where(eq(backupTargetLogins.targetId, targetId)).all()
/** In place of the one that the node had. */
export function setLogin(tx: Tx, row: NodeLogin) {
  tx.delete(backupTargetLogins).where(ofNode(row.targetId, row.nodeId)).run()
  tx.insert(backupTargetLogins).values(row).run()
}
/** Answers whether the node had one. */
export const deleteLogin = (tx: Tx, targetId: string, nodeId: string): boolean =>
  tx.delete(backupTargetLogins).where(ofNode(targetId, nodeId)).returning().all().length > 0
/** For a node that is removed. */
export const deleteLoginsOf = (tx: Tx, nodeId: string) =>
  void tx.delete(backupTargetLogins).where(eq(backupTargetLogins.nodeId, nodeId)).run()
/** Of these nodes those that have what opens the target. */
export function nodesWithLogin(tx: Db, targetId: string, nodeIds: string[]): string[] {
  if (!backupTargetById(tx, targetId)?.ownLoginsOnly) return nodeIds
  const own = new Set(loginsAt(tx, targetId).map(({ nodeId }) => nodeId))
  return nodeIds.filter((id) => own.has(id))
}
