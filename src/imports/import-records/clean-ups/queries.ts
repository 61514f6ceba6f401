// The things that ended imports have left on source hypervisors: kept definitions, and the keys of nodes.
import { getTableColumns } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { SourceHost } from '../../../../agent/protocol/values/source-hosts.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { columnList, decoding } from '../../../kernel/db/rows.ts'

/** `given_up`: it was tried for a week; a person removes the rest. */
export const cleanUpStates = ['waiting', 'done', 'given_up'] as const

export const importCleanUps = sqliteTable(
  'import_clean_ups',
  {
    importId: text('import_id').notNull(),
    hypervisorId: text('hypervisor_id').notNull(),
    /** Of the import, as people call it. */
    title: text().notNull(),
    name: text().notNull(),
    /** How nodes reach it; null: it is the node in `nodeIds`. */
    host: text({ mode: 'json' }).$type<SourceHost>(),
    /** The nodes whose keys are there. */
    nodeIds: text('node_ids', { mode: 'json' }).$type<readonly string[]>().notNull(),
    /** The domains whose definitions are kept there still. */
    domains: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    hasKeys: integer('has_keys', { mode: 'boolean' }).notNull(),
    state: text({ enum: cleanUpStates }).notNull(),
    definitionsRemoved: integer('definitions_removed').notNull().default(0),
    keysRemoved: integer('keys_removed').notNull().default(0),
    /** Why the last try did not end. */
    words: text(),
    tries: integer().notNull().default(0),
    since: integer().notNull(),
    nextAt: integer('next_at').notNull(),
    endedAt: integer('ended_at'),
  },
  (t) => [primaryKey({ columns: [t.importId, t.hypervisorId] })],
)
export type ImportCleanUp = typeof importCleanUps.$inferSelect

const columns = columnList(getTableColumns(importCleanUps))
const decode = decoding<ImportCleanUp>(getTableColumns(importCleanUps))
const decoded = (rows: readonly unknown[]) => rows.map((row) => decode(row)!)
const statements = prepared(({ $client }) => ({
  one: $client.prepare<unknown, [string, string]>(
    `SELECT ${columns} FROM import_clean_ups WHERE import_id = ? AND hypervisor_id = ?`,
  ),
  of: $client.prepare<unknown, [string]>(
    `SELECT ${columns} FROM import_clean_ups WHERE import_id = ? ORDER BY name, hypervisor_id`,
  ),
  due: $client.prepare<unknown, [number, number]>(
    `SELECT ${columns} FROM import_clean_ups WHERE state = 'waiting' AND next_at <= ? ORDER BY next_at LIMIT ?`,
  ),
  left: $client.prepare<unknown, [number]>(
    `SELECT ${columns} FROM import_clean_ups WHERE state <> 'done' AND tries > 0 ORDER BY since LIMIT ?`,
  ),
  // Another import that nodes still sign in for.
  usedBy: $client.prepare<{ title: string }, [string, string]>(
    `SELECT coalesce(i.name, replace(i.address, 'https://', '')) AS title FROM import_hosts h
     JOIN imports i ON i.id = h.import_id
     WHERE h.address = ? AND h.import_id <> ? AND i.status NOT IN ('finished', 'cancelled') LIMIT 1`,
  ),
  // Nodes that have tried to sign in there, or have copied from it. `works`: their key is there.
  keys: $client.prepare<{ nodeId: string; works: number }, [string, string]>(
    `SELECT nodeId, max(works) AS works FROM (
       SELECT node_id AS nodeId, coalesce(result, '') = 'works' AS works FROM import_logins
       WHERE import_id = ?1 AND hypervisor_id = ?2
       UNION ALL SELECT node_id, 1 FROM import_moves
       WHERE import_id = ?1 AND hypervisor_id = ?2 AND way = 'copy' AND node_id IS NOT NULL)
     GROUP BY nodeId ORDER BY works DESC, nodeId`,
  ),
  adopters: $client.prepare<{ nodeId: string }, [string, string]>(
    `SELECT DISTINCT node_id AS nodeId FROM import_moves
     WHERE import_id = ? AND hypervisor_id = ? AND way = 'adopt' AND node_id IS NOT NULL`,
  ),
  forgetDefinitions: $client.prepare<unknown, [string]>(
    `UPDATE import_moves SET definition = NULL, check_at = NULL, check_asked_at = NULL WHERE import_id = ?`,
  ),
  kept: $client.prepare<{ domain: string }, [string, string]>(
    `SELECT DISTINCT s.domain FROM import_moves m JOIN import_servers s ON s.id = m.server_id
     WHERE m.import_id = ? AND m.hypervisor_id = ? AND m.attempts > 0 AND s.domain IS NOT NULL ORDER BY s.domain`,
  ),
}))

export const cleanUpOf = (tx: Db, importId: string, hypervisorId: string): ImportCleanUp | undefined =>
  decode(statements(tx).one.get(importId, hypervisorId))
export const cleanUpsOf = (tx: Db, importId: string): ImportCleanUp[] => decoded(statements(tx).of.all(importId))
/** Those whose next try is due. */
export const dueCleanUps = (tx: Db, now: number, most: number): ImportCleanUp[] =>
  decoded(statements(tx).due.all(now, most))
/** Those that were tried and are not done. */
export const leftCleanUps = (tx: Db, most: number): ImportCleanUp[] => decoded(statements(tx).left.all(most))
export function putCleanUp(tx: Tx, row: typeof importCleanUps.$inferInsert) {
  tx.insert(importCleanUps)
    .values(row)
    .onConflictDoUpdate({ target: [importCleanUps.importId, importCleanUps.hypervisorId], set: row })
    .run()
}
/** The name of another import at whose hypervisors nodes still sign in at this address. */
export const usedByAnother = (tx: Db, address: string, importId: string): string | undefined =>
  statements(tx).usedBy.get(address, importId)?.title
/** The nodes whose keys may be on the hypervisor; those with `works` have signed in there, and stand first. */
export const nodesWithKeys = (tx: Db, importId: string, hypervisorId: string): { nodeId: string; works: boolean }[] =>
  statements(tx)
    .keys.all(importId, hypervisorId)
    .map(({ nodeId, works }) => ({ nodeId, works: works === 1 }))
/** The node that has adopted servers of the hypervisor, and is it. */
export const adopterOf = (tx: Db, importId: string, hypervisorId: string): string | undefined =>
  statements(tx).adopters.get(importId, hypervisorId)?.nodeId
/** Nothing of the import goes back any more: its definitions are deleted, and nothing of it is checked. */
export const forgetDefinitions = (tx: Tx, importId: string) => void statements(tx).forgetDefinitions.run(importId)
/** The domains whose definitions were kept on the hypervisor. */
export const keptDomains = (tx: Db, importId: string, hypervisorId: string): string[] =>
  statements(tx)
    .kept.all(importId, hypervisorId)
    .map(({ domain }) => domain)
