import { and, count, eq, isNull, type SQL } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy, updating } from '../../kernel/db/rows.ts'
import { type Iso, isoCopies, isos } from './tables.ts'

export const isoReference = reference(isos, ['name'])
export const isoTarget: AuditTarget = { prefix: 'iso', name: (id) => isoReference.value('name', id) }
export const isoById = rowBy(isos, isos.id)
export const updateIso = updating(isos, isos.id)
export const insertIso = (tx: Tx, row: typeof isos.$inferInsert): Iso => tx.insert(isos).values(row).returning().get()

const present = isNull(isos.removedAt)
/** A page, newest first; `where` decides who sees which. */
export const pageOfIsos = <Shown>(call: ReadContext, where: SQL | undefined, show: (row: Iso) => Shown) =>
  newest({ call, name: 'isos', table: isos, where: and(present, where), show })
export const countIsos = (tx: Db, ownerId: string): number =>
  tx
    .select({ n: count() })
    .from(isos)
    .where(and(present, eq(isos.ownerId, ownerId)))
    .get()!.n

/** Notes that a node has the ISO. */
export const noteCopy = (tx: Tx, isoId: string, nodeId: string) =>
  void tx.insert(isoCopies).values({ isoId, nodeId }).onConflictDoNothing().run()
export const forgetCopy = (tx: Tx, isoId: string, nodeId: string) =>
  void tx
    .delete(isoCopies)
    .where(and(eq(isoCopies.isoId, isoId), eq(isoCopies.nodeId, nodeId)))
    .run()
/** The nodes that have it. */
export const nodesWith = (tx: Db, isoId: string): string[] =>
  tx
    .select({ nodeId: isoCopies.nodeId })
    .from(isoCopies)
    .where(eq(isoCopies.isoId, isoId))
    .all()
    .map(({ nodeId }) => nodeId)
