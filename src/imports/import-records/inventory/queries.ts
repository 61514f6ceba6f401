// The statements about what readings have found: hypervisors, packages, ranges, owners, servers and their addresses.
import { and, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { ended, newest, type Page, paginate } from '../../../kernel/api/list.ts'
import type { ReadContext } from '../../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { columnList, decoding, inserting, rowBy, updating } from '../../../kernel/db/rows.ts'
import type { CheckResult } from '../checks/tables.ts'
import {
  type ImportAddress,
  type ImportChange,
  type ImportHypervisor,
  type ImportOwner,
  type ImportPackage,
  type ImportRange,
  type ImportServer,
  type ImportServerState,
  importAddresses,
  importChanges,
  importHypervisors,
  importOwners,
  importPackages,
  importRanges,
  importServers,
} from '../tables.ts'

export type {
  ImportAddress,
  ImportChange,
  ImportHypervisor,
  ImportOwner,
  ImportPackage,
  ImportRange,
  ImportServer,
  ImportServerState,
}

/** The parts of a mapping, each a table with a row for what the other panel has. */
export const parts = ['packages', 'ranges', 'hypervisors', 'owners'] as const
export type Part = (typeof parts)[number]
export type PartRow = {
  packages: ImportPackage
  ranges: ImportRange
  hypervisors: ImportHypervisor
  owners: ImportOwner
}

type PartTable = SQLiteTable & { importId: SQLiteColumn; sourceId: SQLiteColumn; read: SQLiteColumn }
function partOf<Row extends { importId: string; sourceId: string }>(table: PartTable, name: string) {
  const columns = getTableColumns(table)
  const decode = decoding<Row>(columns)
  const insert = inserting(table)
  const find = prepared(({ $client }) =>
    $client.prepare<unknown, [string, string]>(
      `SELECT ${columnList(columns)} FROM ${name} WHERE import_id = ? AND source_id = ?`,
    ),
  )
  const after = prepared(({ $client }) =>
    $client.prepare<unknown, [string, string, number]>(
      `SELECT ${columnList(columns)} FROM ${name} WHERE import_id = ? AND source_id >= ? ORDER BY source_id LIMIT ?`,
    ),
  )
  const gone = prepared(({ $client }) =>
    $client.prepare<{ sourceId: string }, [string, number, number]>(
      `DELETE FROM ${name} WHERE import_id = ?1 AND source_id IN
       (SELECT source_id FROM ${name} WHERE import_id = ?1 AND read < ?2 LIMIT ?3) RETURNING source_id AS sourceId`,
    ),
  )
  const key = (importId: string, sourceId: string) => and(eq(table.importId, importId), eq(table.sourceId, sourceId))
  return {
    find: (tx: Db, importId: string, sourceId: string): Row | undefined => decode(find(tx).get(importId, sourceId)),
    insert: (tx: Tx, row: object) => insert(tx, row as never),
    change: (tx: Tx, { importId, sourceId }: Row, values: object) =>
      void tx.update(table).set(values).where(key(importId, sourceId)).run(),
    /** Rows from this id on, in the order of their ids. */
    from: (tx: Db, importId: string, sourceId: string, limit: number): Row[] =>
      after(tx)
        .all(importId, sourceId, limit)
        .map((row) => decode(row)!),
    /** Deletes so many rows that the reading has not seen; answers their ids. */
    deleteGone: (tx: Tx, importId: string, read: number, limit: number): string[] =>
      gone(tx)
        .all(importId, read, limit)
        .map(({ sourceId }) => sourceId),
    /** A page in the order of the ids in the other panel. */
    page<Shown>(call: ReadContext, importId: string, where: SQL | undefined, show: (row: Row) => Shown): Page<Shown> {
      const fits = and(eq(table.importId, importId), where)
      return paginate<Row, Shown>({
        call,
        name: `${name} of ${importId}`,
        rows: (slice) => {
          const { behind, inOrder } = ended(slice, table.sourceId, 'ASC')
          return call.tx
            .select()
            .from(table)
            .where(and(fits, behind))
            .orderBy(...inOrder)
            .limit(slice.limit)
            .offset(slice.skip)
            .all() as Row[]
        },
        keyOf: ({ sourceId }) => sourceId,
        show,
        total: () => call.tx.select({ n: sql<number>`count(*)` }).from(table).where(fits).get()!.n,
      })
    },
  }
}
export const hypervisorRows = partOf<ImportHypervisor>(importHypervisors, 'import_hypervisors')
export const packageRows = partOf<ImportPackage>(importPackages, 'import_packages')
export const rangeRows = partOf<ImportRange>(importRanges, 'import_ranges')
export const ownerRows = partOf<ImportOwner>(importOwners, 'import_owners')
export const rowsOf = {
  packages: packageRows,
  ranges: rangeRows,
  hypervisors: hypervisorRows,
  owners: ownerRows,
} as const

/** Every row of a part, some hundred at a time. */
export function* everyRow<P extends Part>(tx: Db, part: P, importId: string): Generator<PartRow[P]> {
  for (let at: string | undefined = ''; at !== undefined; ) {
    const rows: PartRow[P][] = rowsOf[part].from(tx, importId, at, 501) as unknown as PartRow[P][]
    yield* rows.slice(0, 500)
    at = rows[500]?.sourceId
  }
}

// ---------------------------------------------------------------- servers
const serverColumns = getTableColumns(importServers)
const decodeServer = decoding<ImportServer>(serverColumns)
const aServer = `SELECT ${columnList(serverColumns)} FROM import_servers`
const addressColumns = columnList(getTableColumns(importAddresses))
const decodeAddress = decoding<ImportAddress>(getTableColumns(importAddresses))
const unseen = `s.state IN ('waiting', 'left_out', 'ready', 'failed', 'rolled_back', 'moving', 'moved')`

type Count = { key: string; servers: number; importable: number; diskGb: number }
const counted = (column: string) =>
  `SELECT s.${column} AS key, count(*) AS servers, total(s.disk_gb) AS diskGb,
     sum(s.state NOT IN ('refused', 'already_moved')) AS importable
   FROM import_servers s WHERE s.import_id = ?1 AND s.${column} IN (SELECT value FROM json_each(?2)) GROUP BY 1`

const statements = prepared(({ $client }) => ({
  bySource: $client.prepare<unknown, [string, string]>(`${aServer} WHERE import_id = ? AND source_id = ?`),
  byId: $client.prepare<unknown, [string, string]>(`${aServer} WHERE id = ? AND import_id = ?`),
  from: $client.prepare<unknown, [string, string, number]>(
    `${aServer} WHERE import_id = ? AND id > ? ORDER BY id LIMIT ?`,
  ),
  movedBefore: $client.prepare<{ importId: string; workloadId: string | null }, [string, string]>(
    `SELECT import_id AS importId, workload_id AS workloadId FROM import_servers
     WHERE identity = ? AND state = 'moved' AND import_id <> ? LIMIT 1`,
  ),
  addresses: $client.prepare<unknown, [string]>(
    `SELECT ${addressColumns} FROM import_addresses WHERE server_id = ? ORDER BY version, is_primary DESC, address`,
  ),
  dropAddresses: $client.prepare<unknown, [string]>('DELETE FROM import_addresses WHERE server_id = ?'),
  gone: $client.prepare<{ sourceId: string; hostname: string }, [string, number, number]>(
    `DELETE FROM import_servers WHERE id IN
       (SELECT id FROM import_servers WHERE import_id = ?1 AND read < ?2 LIMIT ?3)
     RETURNING source_id AS sourceId, hostname`,
  ),
  readyByOwner: $client.prepare<{ ownerId: string; hostnames: string }, [string]>(
    `SELECT owner_id AS ownerId, json_group_array(hostname ORDER BY id) AS hostnames FROM import_servers
     WHERE import_id = ? AND state = 'ready' GROUP BY owner_id`,
  ),
  states: $client.prepare<{ state: ImportServerState; n: number }, [string]>(
    'SELECT state, count(*) AS n FROM import_servers WHERE import_id = ? GROUP BY state',
  ),
  totals: $client.prepare<{ servers: number; diskGb: number; undecided: number; conflicts: number }, [string]>(
    `SELECT count(*) AS servers, total(s.disk_gb) AS diskGb, coalesce(sum(s.undecided > 0), 0) AS undecided,
       coalesce(sum(s.address_conflict IS NOT NULL OR s.claim_conflict IS NOT NULL), 0) AS conflicts
     FROM import_servers s WHERE s.import_id = ? AND ${unseen} AND s.state <> 'left_out'`,
  ),
  byHypervisor: $client.prepare<Count, [string, string]>(counted('hypervisor_id')),
  byPackage: $client.prepare<Count, [string, string]>(counted('package_id')),
  byOwner: $client.prepare<Count, [string, string]>(counted('owner_id')),
  byRange: $client.prepare<Count, [string, string]>(
    `SELECT a.range_id AS key, count(DISTINCT s.id) AS servers, 0 AS diskGb,
       count(DISTINCT CASE WHEN s.state NOT IN ('refused', 'already_moved') THEN s.id END) AS importable
     FROM import_addresses a JOIN import_servers s ON s.id = a.server_id
     WHERE a.import_id = ?1 AND a.range_id IN (SELECT value FROM json_each(?2)) GROUP BY 1`,
  ),
  addressesInRange: $client.prepare<{ n: number }, [string, string]>(
    'SELECT count(*) AS n FROM import_addresses WHERE import_id = ? AND range_id = ?',
  ),
  hypervisorsOfRange: $client.prepare<{ id: string }, [string, string]>(
    `SELECT DISTINCT s.hypervisor_id AS id FROM import_addresses a JOIN import_servers s ON s.id = a.server_id
     WHERE a.import_id = ? AND a.range_id = ? AND s.state NOT IN ('refused', 'already_moved')`,
  ),
  largest: $client.prepare<{ diskGb: number | null; memoryMb: number | null }, [string, string]>(
    `SELECT max(disk_gb) AS diskGb, max(memory_mb) AS memoryMb FROM import_servers
     WHERE import_id = ? AND package_id = ? AND state NOT IN ('refused', 'already_moved')`,
  ),
  copiedTo: $client.prepare<{ id: string }, []>(
    `SELECT DISTINCT h.location_id AS id FROM imports JOIN import_hypervisors h ON h.import_id = imports.id
     WHERE imports.status IN ('mapping', 'checking', 'ready', 'migrating') AND h.choice = 'copy'
       AND h.location_id IS NOT NULL`,
  ),
  changeCounts: $client.prepare<{ change: ImportChange['change']; n: number }, [string, number]>(
    `SELECT change, count(*) AS n FROM import_changes WHERE import_id = ? AND read = ? GROUP BY change`,
  ),
  addChange: $client.prepare<unknown, [string, number, string, string, string, string, string]>(
    `INSERT OR REPLACE INTO import_changes (import_id, read, list, source_id, change, name, words)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  oldChanges: $client.prepare<unknown, [string, number]>('DELETE FROM import_changes WHERE import_id = ? AND read < ?'),
}))

export const importServerById = rowBy(importServers, importServers.id)
export const serverInImport = (tx: Db, importId: string, id: string): ImportServer | undefined =>
  decodeServer(statements(tx).byId.get(id, importId))
export const serverBySource = (tx: Db, importId: string, sourceId: string): ImportServer | undefined =>
  decodeServer(statements(tx).bySource.get(importId, sourceId))
export const insertServer = inserting(importServers)
export const changeServer = updating(importServers, importServers.id)
/** The servers of an import behind this id, in the order of their ids. */
export const serversAfter = (tx: Db, importId: string, id: string, limit: number): ImportServer[] =>
  statements(tx)
    .from.all(importId, id, limit)
    .map((row) => decodeServer(row)!)
/** Has another import moved this server, and not rolled it back? */
export const movedBefore = (tx: Db, identity: string, importId: string) =>
  statements(tx).movedBefore.get(identity, importId) ?? undefined
export const addressesOfServer = (tx: Db, serverId: string): ImportAddress[] =>
  statements(tx)
    .addresses.all(serverId)
    .map((row) => decodeAddress(row)!)
const insertAddress = inserting(importAddresses)
/** In place of the addresses that it had. */
export function setAddresses(tx: Tx, serverId: string, rows: readonly ImportAddress[]) {
  statements(tx).dropAddresses.run(serverId)
  for (const row of rows) insertAddress(tx, row)
}
/** Deletes so many servers that the reading has not seen; answers them. */
export const deleteGoneServers = (tx: Tx, importId: string, read: number, limit: number) =>
  statements(tx).gone.all(importId, read, limit)
/** The hostnames of the servers that are ready to come, by the ids of their owners in the other panel. */
export const readyHostnames = (tx: Db, importId: string): Map<string, string[]> =>
  new Map(
    statements(tx)
      .readyByOwner.all(importId)
      .map(({ ownerId, hostnames }) => [ownerId, JSON.parse(hostnames)]),
  )

/** How many servers of an import are in each state. */
export const serverStates = (tx: Db, importId: string): Partial<Record<ImportServerState, number>> =>
  Object.fromEntries(
    statements(tx)
      .states.all(importId)
      .map(({ state, n }) => [state, n]),
  )
/** Of the servers that are to come over: their disks together, and how many wait for a decision or have a conflict. */
export const serverTotals = (tx: Db, importId: string) => statements(tx).totals.get(importId)!

const countsBy = {
  packages: 'byPackage',
  ranges: 'byRange',
  hypervisors: 'byHypervisor',
  owners: 'byOwner',
} as const satisfies Record<Part, string>
/** How many servers belong to each of these rows; `importable`: without those that stay in any case. */
export function countsOf(tx: Db, part: Part, importId: string, sourceIds: readonly string[]) {
  const found = new Map(
    statements(tx)
      [countsBy[part]].all(importId, JSON.stringify(sourceIds))
      .map((row) => [row.key, row]),
  )
  return (sourceId: string): Omit<Count, 'key'> => found.get(sourceId) ?? { servers: 0, importable: 0, diskGb: 0 }
}
/** The locations to which imports that go on copy servers. */
export const copiedTo = (tx: Db): string[] =>
  statements(tx)
    .copiedTo.all()
    .map(({ id }) => id)
export const addressesInRange = (tx: Db, importId: string, rangeId: string): number =>
  statements(tx).addressesInRange.get(importId, rangeId)!.n
/** The hypervisors on which servers with an address of the range are. */
export const hypervisorsOfRange = (tx: Db, importId: string, rangeId: string): string[] =>
  statements(tx)
    .hypervisorsOfRange.all(importId, rangeId)
    .map(({ id }) => id)
/** The largest disk and memory among the servers of a package. */
export const largestOf = (tx: Db, importId: string, packageId: string) =>
  statements(tx).largest.get(importId, packageId)!

export type ServerFilter = {
  ids?: readonly string[] | undefined
  state?: ImportServerState | undefined
  hypervisorId?: string | undefined
  packageId?: string | undefined
  ownerId?: string | undefined
  rangeId?: string | undefined
  refusal?: string | undefined
  undecided?: boolean | undefined
  conflict?: boolean | undefined
  /** Of the dry run. */
  result?: CheckResult | undefined
  /** Those that are away longer than so many seconds. */
  awayOver?: number | undefined
  nodeId?: string | undefined
  /** The code of a finding. */
  finding?: string | undefined
  q?: string | undefined
}
/** The orders of the list. */
export const serverSorts = {
  hostname: 'import_servers.hostname',
  disk: 'import_servers.disk_gb',
  state: 'import_servers.state',
}
const contains = (column: SQL, text: string) =>
  sql`${column} LIKE ${`%${text.replace(/[\\%_]/g, '\\$&')}%`} ESCAPE '\\'`
/** The condition of a filter over `import_servers`. */
export function serverCondition(importId: string, filter: ServerFilter): SQL {
  const { ids, state, hypervisorId, packageId, ownerId, rangeId, refusal, undecided, conflict, q } = filter
  const { result, awayOver, nodeId, finding } = filter
  const s = importServers
  return and(
    eq(s.importId, importId),
    ids === undefined ? undefined : inArray(s.id, [...ids]),
    state === undefined ? undefined : eq(s.state, state),
    hypervisorId === undefined ? undefined : eq(s.hypervisorId, hypervisorId),
    packageId === undefined ? undefined : eq(s.packageId, packageId),
    ownerId === undefined ? undefined : eq(s.ownerId, ownerId),
    refusal === undefined ? undefined : eq(s.refusal, refusal),
    undecided ? sql`${s.undecided} > 0 AND ${s.state} IN ('waiting', 'ready')` : undefined,
    conflict ? sql`(${s.addressConflict} IS NOT NULL OR ${s.claimConflict} IS NOT NULL)` : undefined,
    result === undefined
      ? undefined
      : result === 'stays'
        ? eq(s.state, 'refused')
        : sql`${s.id} IN (SELECT server_id FROM import_checks WHERE import_id = ${importId} AND result = ${result})`,
    awayOver === undefined
      ? undefined
      : sql`${s.id} IN (SELECT server_id FROM import_checks
          WHERE import_id = ${importId} AND result IN ('ready', 'remark') AND away_seconds > ${awayOver})`,
    nodeId === undefined
      ? undefined
      : sql`${s.id} IN (SELECT server_id FROM import_checks
          WHERE import_id = ${importId} AND result IN ('ready', 'remark') AND node_id = ${nodeId})`,
    finding === undefined
      ? undefined
      : sql`${s.id} IN (SELECT server_id FROM import_findings WHERE import_id = ${importId} AND code = ${finding})`,
    rangeId === undefined
      ? undefined
      : sql`${s.id} IN (SELECT server_id FROM import_addresses
          WHERE import_id = ${importId} AND range_id = ${rangeId})`,
    q === undefined
      ? undefined
      : sql`(${contains(sql`${s.hostname}`, q)} OR ${contains(sql`${s.domain}`, q)} OR ${s.sourceId} = ${q}
          OR ${s.id} IN (SELECT server_id FROM import_addresses WHERE import_id = ${importId} AND address = ${q})
          OR ${s.ownerId} IN (SELECT source_id FROM import_owners
            WHERE import_id = ${importId} AND (${contains(sql`email`, q)} OR ${contains(sql`name`, q)})))`,
  )!
}
export const pageOfServers = <Shown>(
  call: ReadContext,
  importId: string,
  filter: ServerFilter,
  show: (row: ImportServer) => Shown,
): Page<Shown> =>
  newest({
    call,
    name: `servers of ${importId}`,
    table: importServers,
    where: serverCondition(importId, filter),
    sorts: serverSorts,
    show,
  })

/** A page of the servers in these states. */
export const pageOfServersIn = <Shown>(
  call: ReadContext,
  importId: string,
  states: readonly ImportServerState[],
  show: (row: ImportServer) => Shown,
): Page<Shown> =>
  newest({
    call,
    name: `report of ${importId}`,
    table: importServers,
    where: and(eq(importServers.importId, importId), inArray(importServers.state, [...states]))!,
    show,
  })

/** Servers behind this id that a filter selects, in the order of their ids. */
export const serversBySlice = (
  tx: Db,
  importId: string,
  filter: ServerFilter,
  after: string,
  limit: number,
): ImportServer[] =>
  tx
    .select()
    .from(importServers)
    .where(sql`${serverCondition(importId, filter)} AND ${importServers.id} > ${after}`)
    .orderBy(importServers.id)
    .limit(limit)
    .all()

// ---------------------------------------------------------------- differences between two readings
export const addChange = (tx: Tx, { importId, read, list, sourceId, change, name, words }: ImportChange) =>
  void statements(tx).addChange.run(importId, read, list, sourceId, change, name, words)
export const changeCounts = (tx: Db, importId: string, read: number) =>
  Object.fromEntries(
    statements(tx)
      .changeCounts.all(importId, read)
      .map(({ change, n }) => [change, n]),
  ) as Partial<Record<ImportChange['change'], number>>
/** Forgets the differences of earlier readings. */
export const forgetChanges = (tx: Tx, importId: string, before: number) =>
  void statements(tx).oldChanges.run(importId, before)
export const pageOfChanges = <Shown>(
  call: ReadContext,
  { id, read }: { id: string; read: number },
  change: ImportChange['change'] | undefined,
  show: (row: ImportChange) => Shown,
): Page<Shown> => {
  const c = importChanges
  const where = and(eq(c.importId, id), eq(c.read, read), change ? eq(c.change, change) : undefined)
  const key = sql<string>`${c.list} || ' ' || ${c.sourceId}`
  return paginate<ImportChange & { key: string }, Shown>({
    call,
    name: `changes of ${id} ${read}`,
    rows: ({ after, skip, limit }) =>
      call.tx
        .select({ ...getTableColumns(c), key })
        .from(c)
        .where(and(where, after === undefined ? undefined : sql`${key} > ${after}`))
        .orderBy(key)
        .limit(limit)
        .offset(skip)
        .all(),
    keyOf: (row) => row.key,
    show,
    total: () => call.tx.select({ n: sql<number>`count(*)` }).from(c).where(where).get()!.n,
  })
}
