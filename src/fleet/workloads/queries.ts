// The statements about what every workload has. A kind reads its own rows through `rowsOf` and never names `workloads`.
import type { Database } from 'bun:sqlite'
import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Power } from '../../../agent/protocol/wire.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { getSetting, putSettingIn, settingIn } from '../../kernel/db/queries.ts'
import { reference } from '../../kernel/db/reference.ts'
import { columnList, columnSql, decoding, inserting, rowBy, updating, type Where } from '../../kernel/db/rows.ts'
import type { WorkloadKind } from './kind.ts'
import { type Status, statusIs } from './status.ts'
import { type Lifecycle, type Workload, type workloadCrashes, workloads } from './tables.ts'

export type { Lifecycle, Workload }

export const workloadReference = reference(workloads, [
  'kind',
  'hostname',
  'name',
  'ownerId',
  'ownedSince',
  'resellerId',
  'nodeId',
  'lifecycle',
  'terminatedAt',
  'purgeAt',
])
/** The start of a FROM clause: the fragments of this feature call the table `w`. */
export const fromWorkloads = workloadReference.from('w')

/** The audit log's view of the workloads with this prefix. */
export const auditTargetOf = (prefix: AuditTarget['prefix']): AuditTarget => ({
  prefix,
  name: (id) => workloadReference.value('hostname', id),
  providerId: (id) => workloadReference.value('resellerId', id),
  isGone: (id) => `(SELECT terminated_at IS NOT NULL FROM workloads WHERE id = ${id})`,
})

export const workloadById = rowBy(workloads, workloads.id)

const due = prepared(({ $client }) =>
  $client.prepare<{ id: string }, [string, number, number]>(
    'SELECT id FROM workloads WHERE kind = +? AND purge_at <= ? AND purge_held = 0 ORDER BY purge_at LIMIT ?',
  ),
)
/** Terminated workloads of a kind that nothing brings back after `now` (ms), the longest waiting first. */
export const workloadsToPurge = (tx: Db, kind: string, now: number, limit: number): { id: string }[] =>
  due(tx).all(kind, now, limit)

const decidingColumns = `id, kind, owner_id AS ownerId, reseller_id AS resellerId, terminated_at AS terminatedAt,
  purge_at AS purgeAt FROM workloads`
const statements = prepared(({ $client }) => ({
  number: $client.prepare<{ n: number }, []>('SELECT coalesce(max(number), 0) + 1 AS n FROM workloads'),
  firstAt: $client.prepare<{ at: number }, []>('SELECT created_at AS at FROM workloads ORDER BY id LIMIT 1'),
  listed: $client.prepare<{ listed: number }, [string]>('SELECT listed FROM workload_counts WHERE kind = ?'),
  takeGeneration: $client.prepare<{ n: number }, [string]>(
    `UPDATE workloads SET last_disk_generation = last_disk_generation + 1
     WHERE id = ? RETURNING last_disk_generation AS n`,
  ),
  hostnameHolder: $client.prepare<{ id: string }, [string, string, string]>(
    'SELECT id FROM workloads WHERE owner_id = ? AND hostname = ? AND id <> ? AND terminated_at IS NULL',
  ),
  listedOn: $client.prepare<{ n: number }, [string]>(
    'SELECT count(*) AS n FROM workloads WHERE node_id = +? AND terminated_at IS NULL',
  ),
  // The kinds first: the stored numbers are found by kind and node.
  listedOnAll: $client.prepare<{ n: number }, [string]>(
    `WITH RECURSIVE kinds (kind) AS (SELECT min(kind) FROM workload_states
       UNION ALL SELECT (SELECT min(s.kind) FROM workload_states s WHERE s.kind > k.kind) FROM kinds k
         WHERE k.kind IS NOT NULL)
     SELECT coalesce(sum(s.workloads), 0) AS n FROM kinds k CROSS JOIN json_each(?) node
     CROSS JOIN workload_states s ON s.kind = k.kind AND s.node_id = node.value
     WHERE k.kind IS NOT NULL AND s.lifecycle <> 'terminated'`,
  ),
  kindsOnEach: $client.prepare<{ nodeId: string; kind: string; n: number }, []>(
    `SELECT node_id AS nodeId, kind, sum(workloads) AS n FROM workload_states WHERE lifecycle <> 'terminated'
     GROUP BY node_id, kind HAVING n > 0`,
  ),
  kindsOn: $client.prepare<{ kind: string; n: number }, [string]>(
    'SELECT kind, count(*) AS n FROM workloads WHERE node_id = +? AND terminated_at IS NULL GROUP BY kind',
  ),
  ownersOn: $client.prepare<{ n: number }, [string]>(
    'SELECT count(DISTINCT owner_id) AS n FROM workloads WHERE node_id IN (SELECT value FROM json_each(?)) ' +
      'AND terminated_at IS NULL',
  ),
  ofService: $client.prepare<ServiceHolder, [string, string | null, string]>(
    `SELECT id, kind, hostname, owner_id AS ownerId, reseller_id AS resellerId, terminated_at AS terminatedAt,
       purge_at AS purgeAt FROM workloads
     WHERE billing_service_id = +? AND reseller_id IS ? AND id <> ? AND terminated_at IS NULL LIMIT 1`,
  ),
  facts: $client.prepare<WorkloadFacts, [string]>(
    'SELECT id, node_id AS nodeId, owner_id AS ownerId, reseller_id AS resellerId FROM workloads WHERE id = ?',
  ),
  deciding: $client.prepare<Deciding & Pick<Workload, 'kind'>, [string]>(`SELECT ${decidingColumns} WHERE id = +?`),
  seen: $client.prepare<VisibleWorkload & Pick<Workload, 'kind'>, [string]>(
    `SELECT version, node_id AS nodeId, ${decidingColumns} WHERE id = +?`,
  ),
}))
/**
 * The generation for a new disk of the workload. Counts up, so that a disk that was left over is never taken for a new
 * one.
 */
export const takeDiskGeneration = (tx: Tx, id: string): number => statements(tx).takeGeneration.get(id)!.n
/** Can this workload have this hostname? Another one of the same owner that is not terminated may have it. */
export const isHostnameFree = (tx: Tx, { id, ownerId }: Pick<Workload, 'id' | 'ownerId'>, hostname: string): boolean =>
  statements(tx).hostnameHolder.get(ownerId, hostname, id) === null

type ServiceHolder = Deciding & Pick<Workload, 'kind' | 'hostname'>
/**
 * The living workload of this provider (null: the house) that its billing system calls so, but for the one with the id
 * `except`; undefined where there is none.
 */
export const workloadOfService = (
  tx: Db,
  resellerId: string | null,
  billingServiceId: string,
  except = '',
): ServiceHolder | undefined => statements(tx).ofService.get(billingServiceId, resellerId, except) ?? undefined
/** The few columns that decide who sees a workload. */
export type Deciding = Pick<Workload, 'id' | 'ownerId' | 'resellerId' | 'terminatedAt' | 'purgeAt'>
export const decidingRow = (tx: Db, id: string): (Deciding & Pick<Workload, 'kind'>) | null =>
  statements(tx).deciding.get(id)
/** The same with what finds the record of the workload that was rendered before. */
export type VisibleWorkload = Deciding & WorkloadFacts & { version: number }
export const visibleRow = (tx: Db, id: string): (VisibleWorkload & Pick<Workload, 'kind'>) | null =>
  statements(tx).seen.get(id)

/** Does one of the workloads that `where` (over `workloads w`) finds stay on this node? */
export const isAnyOn = (tx: Db, nodeId: string, { where, values }: Where): boolean =>
  tx.$client
    .query<unknown, (string | number)[]>(
      `SELECT 1 ${fromWorkloads} WHERE ${where} AND w.terminated_at IS NULL
         AND EXISTS (SELECT 1 FROM workload_stays s WHERE s.workload_id = w.id AND s.node_id = ?) LIMIT 1`,
    )
    .get(...values, nodeId) !== null

/** Since a restore no workload gets a number below this one. */
const FIRST_NUMBER = 'workloads.first_number'
/** Far more than the orders that a restore loses. */
const NUMBERS_LEFT_OUT = 1000
/** The number of the next workload, in the transaction that inserts it. */
export const nextNumber = (tx: Tx): number =>
  Math.max(statements(tx).number.get()!.n, Number(getSetting(tx, FIRST_NUMBER) ?? 0))
/**
 * In the file of a database that is put in place of another one: numbers that lost orders may have are left out. Taps
 * and user ids on the nodes are made of them.
 */
export function leaveOutNumbersIn(file: Database) {
  const last = file.query<{ n: number }, []>('SELECT coalesce(max(number), 0) AS n FROM workloads').get()!.n
  const before = Number(JSON.parse(settingIn(file, FIRST_NUMBER) ?? '0'))
  putSettingIn(file, FIRST_NUMBER, Math.max(last, before) + NUMBERS_LEFT_OUT)
}

/** When the first workload was made, in ms; undefined before. */
export const firstWorkloadAt = (tx: Db): number | undefined => statements(tx).firstAt.get()?.at

/** How many workloads of this kind are not terminated: one row, which triggers keep. */
export const listedWorkloads = (tx: Db, kind: string): number => statements(tx).listed.get(kind)?.listed ?? 0

/** How many workloads of a node are not terminated; one that can be brought back is. */
export const listedOn = (tx: Db, nodeId: string): number => statements(tx).listedOn.get(nodeId)!.n
/** The same of many nodes together. */
export const listedOnAll = (tx: Db, nodeIds: readonly string[]): number =>
  statements(tx).listedOnAll.get(JSON.stringify(nodeIds))!.n
/** How many of each kind: `{ server: 44, gpu_instance: 2 }`. */
export type CountsByKind = Readonly<Record<string, number>>
const byKind = (rows: readonly { kind: string; n: number }[]): CountsByKind =>
  Object.fromEntries(rows.map(({ kind, n }) => [kind, n]))
/** As `listedOn`, by kind. */
export const kindsOn = (tx: Db, nodeId: string): CountsByKind => byKind(statements(tx).kindsOn.all(nodeId))
/** The same of every node that has some. */
export const kindsOnEach = (tx: Db): ReadonlyMap<string, CountsByKind> =>
  new Map(
    [...Map.groupBy(statements(tx).kindsOnEach.all(), ({ nodeId }) => nodeId)].map(([id, of]) => [id, byKind(of)]),
  )
/** The accounts that own what is listed on these nodes. */
export const ownersOn = (tx: Db, nodeIds: readonly string[]): number =>
  statements(tx).ownersOn.get(JSON.stringify(nodeIds))!.n

export const insertWorkload = inserting(workloads)
/** The columns that are a part of its stays: `stays/stays.ts` alone changes them. */
type PlaceColumn = 'nodeId' | 'locationId' | 'pool' | 'vcpus' | 'memoryMb' | 'diskGb' | 'releasedAt'
export const changeWorkload: (tx: Tx, id: string, values: Partial<Omit<Workload, PlaceColumn>>) => void = updating(
  workloads,
  workloads.id,
)
/** For `stays/stays.ts`. */
export const changePlace: (tx: Tx, id: string, values: Partial<Pick<Workload, PlaceColumn>>) => void = updating(
  workloads,
  workloads.id,
)

/**
 * Stores the power that a node reported. A guest that started or stopped by itself, with no job open and not suspended,
 * changes the wanted power too; a crash does not.
 */
export function notePower(tx: Tx, workload: Workload, power: Power, busy: boolean) {
  const wanted =
    !busy &&
    workload.lifecycle === 'active' &&
    workload.suspendedAt === null &&
    (power === 'running' || power === 'stopped')
      ? power
      : workload.wantedPower
  if (workload.power !== power || workload.wantedPower !== wanted)
    changeWorkload(tx, workload.id, { power, wantedPower: wanted })
}

/** A row of a kind with what every workload has, and the status computed from it, under the name that its kind has. */
export type WorkloadRow<T extends SQLiteTable, S extends string = Status> = Workload & T['$inferSelect'] & { status: S }

/**
 * `const serverById = rowsOf(servers, statusOf)`: the row of an id with its workload and status; undefined when there
 * is none.
 */
export function rowsOf<T extends SQLiteTable & { id: SQLiteColumn }, S extends string>(
  table: T,
  status: (row: Workload) => S,
) {
  // The version is none of the row's own facts: the audit log compares rows.
  const { version: _, heldMac: __, ...columns } = getTableColumns(workloads)
  const all = { ...getTableColumns(table as SQLiteTable), ...columns }
  const decode = decoding<Workload & T['$inferSelect']>(all)
  // +?: 6 µs instead of 25.
  const find = prepared(({ $client }) =>
    $client.prepare<unknown, [string]>(
      `SELECT ${columnList(all)} ${workloadReference.from('workloads')}
       JOIN "${getTableName(table)}" ON ${columnSql(table.id)} = workloads.id WHERE workloads.id = +?`,
    ),
  )
  return (tx: Db, id: string): WorkloadRow<T, S> | undefined => {
    const row = decode(find(tx).get(id))
    return row && Object.assign(row, { status: status(row) })
  }
}

/** Columns of `workloads w` for rows of a list, by the names of the record. */
export const workloadColumns = `w.id, w.kind, w.number, w.name, w.hostname, w.lifecycle, w.suspended_at AS suspendedAt,
  w.suspend_reason AS suspendReason, w.power, w.failure, w.placement, w.pool, w.mac,
  w.restart_policy AS restartPolicy, w.vcpus, w.memory_mb AS memoryMb, w.disk_gb AS diskGb,
  w.owner_id AS ownerId, w.reseller_id AS resellerId, w.node_id AS nodeId, w.location_id AS locationId,
  w.created_at AS createdAt, w.terminated_at AS terminatedAt, w.purge_at AS purgeAt`

/**
 * As `workloadColumns`: the id and the version, which triggers count up (0008_record_versions.sql). A page of fifty
 * takes 24 µs with these two columns and 41 with those of `workloadFacts` beside them.
 */
export const workloadKey = 'w.id, w.version'
export type WorkloadKey = Pick<Workload, 'id'> & { version: number }

export type WorkloadFacts = Pick<Workload, 'id' | 'nodeId' | 'ownerId' | 'resellerId'>
/** The columns that decide the visibility of a workload that exists, and its node. All of them change the version. */
export const workloadFacts = (tx: Db, id: string): WorkloadFacts => statements(tx).facts.get(id)!

/** Over any table `w` with ids of workloads: those that a billing system calls so. For those only who may read it. */
export const billingServiceFits = (billingServiceId: string): Where => ({
  where: 'w.id IN (SELECT id FROM workloads WHERE billing_service_id = +?)',
  values: [billingServiceId],
})

/** Crashes that are kept of a workload in a day; a node that starts one again three times reports far fewer. */
const MOST_CRASHES = 50
const crashStatements = prepared(({ $client }) => ({
  insert: $client.prepare(
    // A node that reports without end fills no table and no audit log.
    `INSERT OR IGNORE INTO workload_crashes (workload_id, at, cause, detail, outcome) SELECT ?1, ?2, ?3, ?4, ?5
     WHERE (SELECT count(*) FROM workload_crashes WHERE workload_id = ?1) < ${MOST_CRASHES}`,
  ),
  prune: $client.prepare('DELETE FROM workload_crashes WHERE workload_id = ? AND at < ?'),
}))
type Kept = typeof workloadCrashes.$inferSelect
/** Keeps a crash and drops those of the workload before `keptSince` (milliseconds). False: it was kept before. */
export function insertCrash(tx: Tx, { workloadId, at, cause, detail, outcome }: Kept, keptSince: number): boolean {
  const { insert, prune } = crashStatements(tx)
  prune.run(workloadId, keptSince)
  return insert.run(workloadId, at, cause, detail, outcome).changes > 0
}

/** So many crashes are shown even where the node mended each. */
const MANY_CRASHES = 2
export type CrashedRow = { id: string; hostname: string; name: string; n: number } & Pick<
  Kept,
  'at' | 'cause' | 'detail' | 'outcome'
>
/**
 * Workloads that crashed after `since` (milliseconds) and stay off, or crashed twice or more; the latest crash of each,
 * newest first.
 */
export const crashedRows = (
  tx: Db,
  { kind }: WorkloadKind,
  { where, values }: Where,
  since: number,
  limit: number,
): CrashedRow[] =>
  tx.$client
    .query<CrashedRow, (string | number)[]>(
      // With max() the other columns are those of the latest crash.
      `SELECT w.id, w.hostname, w.name, count(*) AS n, max(c.at) AS at, c.cause, c.detail, c.outcome
       FROM workload_crashes c CROSS JOIN workloads w ON w.id = c.workload_id
       WHERE c.at > ? AND w.kind = ? AND ${where} AND w.lifecycle = 'active'
       GROUP BY w.id HAVING n >= ${MANY_CRASHES} OR (c.outcome = 'left_off' AND w.power <> 'running')
       ORDER BY at DESC LIMIT ?`,
    )
    .all(since, kind, ...values, limit)

export type FailedRow = Pick<Workload, 'id' | 'hostname' | 'name' | 'failure'>
/** Workloads of a kind that failed, newest first; `where` is over `workloads w`. */
export const failedRows = (tx: Db, { kind }: WorkloadKind, { where, values }: Where, limit: number): FailedRow[] =>
  tx.$client
    .query<FailedRow, (string | number)[]>(
      `SELECT w.id, w.hostname, w.name, w.failure ${fromWorkloads}
       WHERE w.kind = +? AND ${where} AND ${statusIs.failed} ORDER BY w.id DESC LIMIT +?`,
    )
    .all(kind, ...values, limit)
