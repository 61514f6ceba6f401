import { desc, eq, ne, sql } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { encryptedColumn } from '../../kernel/db/encrypted.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { type BackupTarget, backupTargets } from './tables.ts'

type WithId = { id: string }
export const encryptedSecret = encryptedColumn(backupTargets, 'encryptedSecret', ({ id }: WithId) => `${id} secret`)
export const encryptedPassword = encryptedColumn(
  backupTargets,
  'encryptedPassword',
  ({ id }: WithId) => `${id} password`,
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
export const deleteBackupTarget = (tx: Tx, id: string) =>
  void tx.delete(backupTargets).where(eq(backupTargets.id, id)).run()
