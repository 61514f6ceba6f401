import type { PoolCapacity, Volume } from '../../../agent/protocol/wire.ts'
import { patched } from '../../kernel/api/named.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy } from '../../kernel/db/rows.ts'
import { FULL_PERCENT } from './full.ts'
import { type StoragePool, storagePools } from './tables.ts'

const poolReference = reference(storagePools, ['name'])
export const storagePoolTarget: AuditTarget = { prefix: 'stp', name: (id) => poolReference.value('name', id) }
export const storagePoolById = rowBy(storagePools, storagePools.id)
export const updateStoragePool = (tx: Tx, row: StoragePool, given: Partial<StoragePool>): StoragePool =>
  patched(tx, storagePools, row, given)

/** The class of the pool in which the disks of `workloads w` stand, as an SQL expression. */
export const classOfWorkload = '(SELECT class FROM storage_pools WHERE node_id = w.node_id AND name = w.pool)'

/** A pool as placement counts with it, in whole GiB. */
export type PoolSpace = {
  id: string
  nodeId: string
  name: string
  kind: string
  class: string | null
  /** It takes the disks of new servers, as far as these fit. */
  open: boolean
  /** It does not answer its node. */
  isSilent: boolean
  /** The same on each node that reaches this storage; null: no other node can. */
  storage: string | null
  /** Its size; 0 while it is missing. */
  diskGb: number
  /** On all nodes that reach it. */
  heldDiskGb: number
  /** So much may be promised. */
  limitGb: number
  /**
   * The space for another disk, of a new server or not: what is not promised or, if less, what is really free without a
   * reserve of 5 %; none in a pool that is full, missing or silent.
   */
  freeDiskGb: number
}
type PoolSpaceRow = Omit<PoolSpace, 'open' | 'isSilent'> & { open: number; isSilent: number }

const GIB = '1073741824'
// Storage that several nodes reach has one sum, which counts on each of them.
const held = `coalesce(iif(p.storage IS NULL, h.disk_gb, (SELECT sum(hh.disk_gb) FROM storage_pools pp
  JOIN storage_held hh ON hh.node_id = pp.node_id AND hh.pool = pp.name WHERE pp.storage = p.storage)), 0)`
const selectSpaces = `SELECT p.id, p.node_id AS nodeId, p.name, p.kind, p.class, p.open, p.storage,
  p.missing_since IS NULL AND p.silent_since IS NOT NULL AS isSilent,
  iif(p.missing_since IS NULL, p.total_bytes / ${GIB}, 0) AS diskGb, ${held} AS heldDiskGb,
  p.total_bytes * p.overcommit_percent / 100 / ${GIB} AS limitGb,
  iif(coalesce(p.missing_since, p.silent_since) IS NOT NULL
      OR p.free_bytes <= p.total_bytes * ${100 - FULL_PERCENT} / 100
      OR p.metadata_free_bytes <= p.metadata_total_bytes * ${100 - FULL_PERCENT} / 100, 0,
    max(0, min(p.total_bytes * p.overcommit_percent / 100 / ${GIB} - ${held},
      coalesce((p.free_bytes - p.total_bytes / 20) / ${GIB}, p.total_bytes)))) AS freeDiskGb
  FROM storage_pools p LEFT JOIN storage_held h ON h.node_id = p.node_id AND h.pool = p.name`

const isShown = '(p.missing_since IS NULL OR coalesce(h.disk_gb, 0) > 0)'
const columns = `p.id, p.node_id AS nodeId, p.name, p.kind, p.class, p.path, p.total_bytes AS totalBytes,
  p.free_bytes AS freeBytes, p.metadata_total_bytes AS metadataTotalBytes,
  p.metadata_free_bytes AS metadataFreeBytes, p.warnings, p.missing_since AS missingSince,
  p.silent_since AS silentSince, p.storage`

const statements = prepared(({ $client }) => ({
  spaces: $client.prepare<PoolSpaceRow, [string]>(
    `${selectSpaces} WHERE p.node_id IN (SELECT value FROM json_each(?)) AND ${isShown}
     ORDER BY p.node_id, p.name`,
  ),
  sums: $client.prepare<{ diskGb: number; freeDiskGb: number }, [string]>(
    `SELECT coalesce(sum(diskGb), 0) AS diskGb, coalesce(sum(iif(open, freeDiskGb, 0)), 0) AS freeDiskGb
     FROM (${selectSpaces} WHERE p.node_id IN (SELECT value FROM json_each(?)) AND ${isShown})`,
  ),
  space: $client.prepare<PoolSpaceRow, [string, string]>(`${selectSpaces} WHERE p.node_id = ? AND p.name = ?`),
  sharing: $client.prepare<{ nodeId: string }, [string, string]>(
    `SELECT DISTINCT b.node_id AS nodeId FROM storage_pools a JOIN storage_pools b ON b.storage = a.storage
     WHERE a.node_id = ?1 AND a.name = ?2 AND b.node_id <> ?1 AND a.missing_since IS NULL AND b.missing_since IS NULL
     ORDER BY 1`,
  ),
  shown: $client.prepare<{ id: string }, [string]>(
    `SELECT p.id FROM storage_pools p LEFT JOIN storage_held h ON h.node_id = p.node_id AND h.pool = p.name
     WHERE p.node_id = ? AND ${isShown} ORDER BY p.name`,
  ),
  health: $client.prepare<PoolHealth, []>(
    `SELECT ${columns} FROM storage_pools p LEFT JOIN storage_held h ON h.node_id = p.node_id AND h.pool = p.name
     WHERE ${isShown} ORDER BY p.name`,
  ),
  // Of nodes with a pool that is missing, silent, warned of, or fuller than this: with their other pools.
  troubled: $client.prepare<PoolHealth, [number]>(
    `SELECT ${columns} FROM storage_pools p LEFT JOIN storage_held h ON h.node_id = p.node_id AND h.pool = p.name
     WHERE ${isShown} AND p.node_id IN (SELECT node_id FROM storage_pools
       WHERE missing_since IS NOT NULL OR silent_since IS NOT NULL OR warnings <> '[]'
         OR free_bytes <= total_bytes * +?1 OR metadata_free_bytes <= metadata_total_bytes * +?1) ORDER BY p.name`,
  ),
  used: $client.prepare<PoolUse, [number]>(
    `SELECT p.id, p.node_id AS nodeId, p.name, coalesce(p.storage, p.id) AS storage, p.total_bytes AS totalBytes,
       p.free_bytes AS freeBytes, p.metadata_total_bytes AS metadataTotalBytes,
       p.metadata_free_bytes AS metadataFreeBytes
     FROM storage_pools p WHERE p.missing_since IS NULL AND p.silent_since IS NULL AND p.free_bytes IS NOT NULL
       AND (p.free_bytes < p.total_bytes * +?1 OR p.metadata_free_bytes < p.metadata_total_bytes * +?1)
     ORDER BY p.name, p.id`,
  ),
  // An agent that has started since a pool fell silent does not know its figures.
  keep: $client.prepare(
    `INSERT INTO storage_pools (id, node_id, name, kind, class, path, total_bytes, free_bytes, metadata_total_bytes,
       metadata_free_bytes, warnings, silent_since, created_at, storage)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
     ON CONFLICT (node_id, name) DO UPDATE SET kind = ?4, class = ?5, path = ?6,
       total_bytes = iif(?12 AND NOT ?7, total_bytes, ?7), free_bytes = iif(?12 AND NOT ?7, free_bytes, ?8),
       metadata_total_bytes = iif(?12 AND NOT ?7, metadata_total_bytes, ?9),
       metadata_free_bytes = iif(?12 AND NOT ?7, metadata_free_bytes, ?10),
       warnings = ?11, silent_since = ?12, missing_since = NULL, storage = iif(?12, coalesce(?14, storage), ?14)`,
  ),
  miss: $client.prepare(
    `UPDATE storage_pools SET missing_since = ?
     WHERE node_id = ? AND missing_since IS NULL AND name NOT IN (SELECT value FROM json_each(?))`,
  ),
  // A node that invents names fills no table; a decision of staff stays for the day on which the pool comes back.
  forget: $client.prepare(
    `DELETE FROM storage_pools WHERE node_id = ? AND missing_since IS NOT NULL AND open = 1 AND overcommit_percent = 100
     AND name NOT IN (SELECT pool FROM storage_held WHERE node_id = storage_pools.node_id AND disk_gb > 0)`,
  ),
}))

/** The columns by which Needs attention and monitoring judge a pool; `warnings` as JSON. */
export type PoolHealth = Omit<StoragePool, 'open' | 'overcommitPercent' | 'createdAt' | 'warnings'> & {
  warnings: string
}

/** The format of new disks in a pool of this kind: a file can be either, and a block device is raw. */
export const formatIn = ({ kind }: Pick<PoolSpace, 'kind'>): Volume['format'] =>
  kind === 'lvm-thin' || kind === 'zfs' || kind === 'rbd' ? 'raw' : 'qcow2'

const spaceOf = (row: PoolSpaceRow): PoolSpace => ({ ...row, open: !!row.open, isSilent: !!row.isSilent })
/**
 * The pools of these nodes with their space, by node and name; one that is missing only while something stands in it.
 */
export const poolSpacesOn = (tx: Db, nodeIds: readonly string[]): PoolSpace[] =>
  statements(tx).spaces.all(JSON.stringify(nodeIds)).map(spaceOf)
/** Their size in GiB, and what those that are open have left for orders, summed up. */
export const poolSumsOn = (tx: Db, nodeIds: readonly string[]): { diskGb: number; freeDiskGb: number } =>
  statements(tx).sums.get(JSON.stringify(nodeIds))!
/** Undefined: the node has never reported a pool of this name. */
export function poolSpaceOf(tx: Db, { nodeId, pool }: { nodeId: string; pool: string }): PoolSpace | undefined {
  const row = statements(tx).space.get(nodeId, pool)
  return row ? spaceOf(row) : undefined
}
/**
 * The pool among those of another node that has the disks of this storage already; undefined: none that could take a
 * disk.
 */
export const poolOfStorage = (pools: readonly PoolSpace[], storage: string | null): PoolSpace | undefined =>
  storage === null
    ? undefined
    : pools.find((pool) => pool.storage === storage && pool.open && !pool.isSilent && pool.diskGb > 0)
/** The space in GiB that the pool of a workload has for another disk, or for more of one. */
export const freeDiskGbFor = (tx: Db, workload: { nodeId: string; pool: string }): number =>
  poolSpaceOf(tx, workload)?.freeDiskGb ?? 0

/** The other nodes that reach the storage of this pool. */
export const nodesSharing = (tx: Db, { nodeId, pool }: { nodeId: string; pool: string }): string[] =>
  statements(tx)
    .sharing.all(nodeId, pool)
    .map((row) => row.nodeId)

/** The pools of a node by name, missing ones only while something stands in them. */
export const poolsOn = (tx: Db, nodeId: string): StoragePool[] =>
  statements(tx)
    .shown.all(nodeId)
    .map(({ id }) => storagePoolById(tx, id)!)
/** The same of every node, by the node. */
export const poolHealthByNode = (tx: Db): Map<string, PoolHealth[]> =>
  Map.groupBy(statements(tx).health.all(), ({ nodeId }) => nodeId)

/**
 * The same of the nodes with a pool that is missing or silent, that its node warns of, or of which at least this share
 * is in use.
 */
export const troubledPoolsByNode = (tx: Db, percent: number): Map<string, PoolHealth[]> =>
  Map.groupBy(statements(tx).troubled.all(1 - percent / 100), ({ nodeId }) => nodeId)

/** A pool and its space. `storage`: the same for pools of several nodes that are one storage. */
export type PoolUse = Pick<
  StoragePool,
  'id' | 'nodeId' | 'name' | 'totalBytes' | 'freeBytes' | 'metadataTotalBytes' | 'metadataFreeBytes'
> & { storage: string }
/** The pools that answer and of whose space, for data or for metadata, more than this share is in use, by name. */
export const poolsFullerThan = (tx: Db, percent: number): PoolUse[] => statements(tx).used.all(1 - percent / 100)

/** A pool of another name can be in no command. */
const USABLE_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/

/** Keeps what a node reports of its pools; those that it does not name are missing. */
export function keepPools(tx: Tx, nodeId: string, reported: readonly PoolCapacity[], now: number) {
  const { keep, miss, forget } = statements(tx)
  const usable = reported.filter(({ name }) => USABLE_NAME.test(name))
  for (const pool of usable) {
    const { name, kind, path, totalBytes, freeBytes, metadataTotalBytes = null, metadataFreeBytes = null } = pool
    const metadata = [metadataTotalBytes, metadataFreeBytes] as const
    const warnings = JSON.stringify(pool.warnings ?? [])
    const figures = [totalBytes, freeBytes, ...metadata] as const
    keep.run(
      newId('stp'),
      nodeId,
      name,
      kind,
      pool.class ?? null,
      path,
      ...figures,
      warnings,
      pool.silentSince ?? null,
      now,
      pool.storage ?? null,
    )
  }
  const names = JSON.stringify(usable.map(({ name }) => name))
  if (miss.run(now, nodeId, names).changes) forget.run(nodeId)
}
