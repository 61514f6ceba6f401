// The statements about imports themselves, their log and what readings stage.
import { asc, eq, sql } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { encryptedColumn } from '../../kernel/db/encrypted.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting, rowBy, updating } from '../../kernel/db/rows.ts'
import { forgetAccess } from './checks/queries.ts'
import { type ImportRecord, type ImportStatus, imports } from './tables.ts'

export type { ImportRecord, ImportStatus }

type WithId = { id: string }
export const encryptedCredentials = encryptedColumn(
  imports,
  'encryptedCredentials',
  ({ id }: WithId) => `${id} credentials`,
)
export const importTarget: AuditTarget = {
  prefix: 'imp',
  scope: 'imports:write',
  name: (id) => `(SELECT coalesce(name, replace(address, 'https://', '')) FROM imports WHERE id = ${id})`,
}

export const importById = rowBy(imports, imports.id)
export const insertImport = inserting(imports)
export const changeImport = updating(imports, imports.id)
/** A page of the imports, newest first. */
export function pageOfImports<Shown>(
  call: ReadContext,
  { status, kind, q }: { status?: ImportStatus | undefined; kind?: string | undefined; q?: string | undefined },
  show: (row: ImportRecord) => Shown,
) {
  const part = q?.replace(/[\\%_]/g, '\\$&')
  const where = sql.join(
    [
      sql`${imports.status} <> 'cancelled'`,
      ...(status ? [sql`${imports.status} = ${status}`] : []),
      ...(kind ? [sql`${imports.kind} = ${kind}`] : []),
      ...(part
        ? [sql`(coalesce(${imports.name}, '') || ' ' || ${imports.address}) LIKE ${`%${part}%`} ESCAPE '\\'`]
        : []),
    ],
    sql` AND `,
  )
  return newest({ call, name: 'imports', table: imports, where, show })
}
/** Those whose panel is being read. */
export const importsBeingRead = (tx: Db): ImportRecord[] =>
  tx.select().from(imports).where(eq(imports.status, 'discovering')).orderBy(asc(imports.id)).all()
/** Those whose servers are being checked. */
export const importsBeingChecked = (tx: Db): ImportRecord[] =>
  tx.select().from(imports).where(eq(imports.status, 'checking')).orderBy(asc(imports.id)).all()
/** Those that ask whether a certificate can be trusted. */
export const importsThatAsk = (tx: Db): ImportRecord[] =>
  tx.select().from(imports).where(sql`${imports.askedCertificate} IS NOT NULL AND ${imports.endedAt} IS NULL`).all()

export type LogLine = { n: number; at: number; level: 'info' | 'warning' | 'error'; text: string }
const statements = prepared(({ $client }) => ({
  log: $client.prepare<unknown, [string, number, string, string]>(
    `INSERT INTO import_log (import_id, n, at, level, text)
     VALUES (?1, (SELECT coalesce(max(n), 0) + 1 FROM import_log WHERE import_id = ?1), ?2, ?3, ?4)`,
  ),
  // The newest 2,000 lines stay.
  trim: $client.prepare<unknown, [string]>(
    `DELETE FROM import_log WHERE import_id = ?1
     AND n <= (SELECT max(n) FROM import_log WHERE import_id = ?1) - 2000`,
  ),
  lines: $client.prepare<LogLine, [string, number, number]>(
    'SELECT n, at, level, text FROM import_log WHERE import_id = ? AND n > ? ORDER BY n LIMIT ?',
  ),
  bump: $client.prepare<unknown, [string]>(
    `UPDATE imports SET mapping_version = mapping_version + 1,
       status = CASE status WHEN 'ready' THEN 'mapping' ELSE status END WHERE id = ?`,
  ),
  stage: $client.prepare<unknown, [string, string, string, string]>(
    `INSERT INTO import_staged (import_id, list, source_id, record) VALUES (?, ?, ?, ?)
     ON CONFLICT (import_id, list, source_id) DO UPDATE SET record = excluded.record`,
  ),
  staged: $client.prepare<{ sourceId: string; record: string }, [string, string, string, number]>(
    `SELECT source_id AS sourceId, record FROM import_staged
     WHERE import_id = ? AND list = ? AND source_id > ? ORDER BY source_id LIMIT ?`,
  ),
  stagedRow: $client.prepare<{ record: string }, [string, string, string]>(
    'SELECT record FROM import_staged WHERE import_id = ? AND list = ? AND source_id = ?',
  ),
  unstage: $client.prepare<unknown, [string, number]>(
    `DELETE FROM import_staged WHERE import_id = ?1 AND (list, source_id) IN
     (SELECT list, source_id FROM import_staged WHERE import_id = ?1 LIMIT ?2)`,
  ),
  leftovers: $client.prepare<{ id: string }, []>(
    `SELECT i.id FROM imports i WHERE i.status <> 'discovering'
     AND EXISTS (SELECT 1 FROM import_staged s WHERE s.import_id = i.id) LIMIT 1`,
  ),
  toErase: $client.prepare<{ id: string }, []>("SELECT id FROM imports WHERE status = 'cancelled' LIMIT 1"),
  toCompare: $client.prepare<{ id: string }, []>(
    `SELECT id FROM imports WHERE status IN ('mapping', 'ready') AND compared_version <> mapping_version`,
  ),
}))

/** A line of the import's own log. It never has a secret in it: texts come from us, or from a `SourceFailure`. */
export function noteIn(tx: Tx, importId: string, at: number, level: LogLine['level'], text: string) {
  statements(tx).log.run(importId, at, level, text)
  statements(tx).trim.run(importId)
}
export const logOf = (tx: Db, importId: string, after: number, limit: number): LogLine[] =>
  statements(tx).lines.all(importId, after, limit)
/** Something that was decided has changed: an earlier dry run is out of date. */
export const noteMapped = (tx: Tx, importId: string) => void statements(tx).bump.run(importId)

// ---------------------------------------------------------------- what a reading stages
export const stage = (tx: Tx, importId: string, list: string, sourceId: string, record: unknown) =>
  void statements(tx).stage.run(importId, list, sourceId, JSON.stringify(record))
/** The next records of a list behind this id, in the order of their ids. */
export const stagedAfter = <R>(tx: Db, importId: string, list: string, after: string, limit: number) =>
  statements(tx)
    .staged.all(importId, list, after, limit)
    .map(({ sourceId, record }) => ({ sourceId, record: JSON.parse(record) as R }))
export const stagedRecord = <R>(tx: Db, importId: string, list: string, sourceId: string): R | undefined => {
  const found = statements(tx).stagedRow.get(importId, list, sourceId)
  return found ? (JSON.parse(found.record) as R) : undefined
}
/** Deletes so many staged records; answers whether some are left. */
export const unstage = (tx: Tx, importId: string, limit: number): boolean =>
  statements(tx).unstage.run(importId, limit).changes === limit
/** An import that was cancelled: nobody sees it any more, and all of it is to be deleted. */
export const toErase = (tx: Db): string | undefined => statements(tx).toErase.get()?.id
/** Deletes the import itself, once nothing is left of what was read for it. */
export function deleteImport(tx: Tx, importId: string) {
  tx.$client.query('DELETE FROM import_log WHERE import_id = ?').run(importId)
  forgetAccess(tx, importId)
  tx.delete(imports).where(eq(imports.id, importId)).run()
}
/** Imports in which something was decided since they were compared with what is here. */
export const importsToCompare = (tx: Db): string[] =>
  statements(tx)
    .toCompare.all()
    .map(({ id }) => id)
/** An import that stages nothing any more and still has staged records. */
export const withLeftovers = (tx: Db): string | undefined => statements(tx).leftovers.get()?.id
