// The statements about extra volumes: their records, and the ledger of how large they were.
import { and, count, desc, eq, or, type SQL, sql } from 'drizzle-orm'
import { newest } from '../../kernel/api/list.ts'
import { patched } from '../../kernel/api/named.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { AuditTarget } from '../../kernel/audit/target.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { rowBy, updating, type Where } from '../../kernel/db/rows.ts'
import { asSql, hasWords } from '../../kernel/search/index.ts'
import { oneGroup } from '../../kernel/search/text.ts'
import { nodeReference } from '../node-records/queries.ts'
import { workloadReference } from '../workloads/queries.ts'
import { type VolumeRow, volumes } from './tables.ts'

export type { VolumeRow }

/** The columns that decide who sees a volume. */
export const volumeColumns = { ownerId: volumes.ownerId, resellerId: volumes.resellerId }
const volumeReference = reference(volumes, ['name', 'resellerId'])
export const volumeTarget: AuditTarget = {
  prefix: 'vol',
  scope: 'servers:read',
  name: (id) => volumeReference.value('name', id),
  providerId: (id) => volumeReference.value('resellerId', id),
}

export const volumeById = rowBy(volumes, volumes.id)
export const changeVolume = updating(volumes, volumes.id)
/** Throws a unique violation when the owner has a volume of this name. */
export const insertVolume = (tx: Tx, row: typeof volumes.$inferInsert): VolumeRow =>
  tx.insert(volumes).values(row).returning().get()
/** Throws a unique violation when the owner has a volume of this name. */
export const renameVolumeRow = (tx: Tx, row: VolumeRow, given: Pick<VolumeRow, 'name'>): VolumeRow =>
  patched(tx, volumes, row, given)
export const deleteVolumeRow = (tx: Tx, id: string) => void tx.delete(volumes).where(eq(volumes.id, id)).run()

/** A page, newest first; `where` decides who sees which. `name`: a cursor of another list is refused. */
export const pageOfVolumes = <Shown>(
  call: ReadContext,
  { name, where }: { name: string; where: SQL | undefined },
  show: (row: VolumeRow) => Shown,
) => newest({ call, name, table: volumes, where, show })
type Filter = Partial<Record<'ownerId' | 'resellerId' | 'serverId' | 'nodeId' | 'text', string | undefined>>
/** Those of an owner, under a reseller, of a server, on a node, with the text in their name or as their id. */
export const volumesThatFit = (tx: Db, { ownerId, resellerId, serverId, nodeId, text }: Filter): SQL | undefined =>
  and(
    ownerId === undefined ? undefined : eq(volumes.ownerId, ownerId),
    resellerId === undefined ? undefined : eq(volumes.resellerId, resellerId),
    serverId === undefined ? undefined : eq(volumes.serverId, serverId),
    nodeId === undefined ? undefined : eq(volumes.nodeId, nodeId),
    text === undefined
      ? undefined
      : or(asSql(hasWords(tx, 'volume', 'volumes.id', text, oneGroup)), eq(volumes.id, text)),
  )

/** The newest volumes that the search finds by their name or id. */
export const searchVolumes = (tx: Db, visible: SQL | undefined, text: string, limit: number) =>
  tx
    .select({ id: volumes.id, title: volumes.name, sizeGb: volumes.sizeGb })
    .from(volumes)
    .where(and(visible, volumesThatFit(tx, { text })))
    .orderBy(desc(volumes.id))
    .limit(limit)
    .all()

const isLost = sql.raw(
  `EXISTS (SELECT 1 ${nodeReference.from('n')} WHERE n.id = volumes.node_id AND
    (${nodeReference.column('n', 'lostAt')} IS NOT NULL OR ${nodeReference.column('n', 'removedAt')} IS NOT NULL))`,
)
const isLeftBehind = sql.raw(
  `server_id IS NULL AND state = 'ready' AND
    ${workloadReference.value('terminatedAt', 'volumes.last_server_id')} NOT NULL`,
)
/** How many of the visible volumes were lost with their node, or stayed when their server ended, with their GiB. */
export function troubledVolumes(tx: Db, visible: SQL | undefined) {
  const sum = (which: SQL) =>
    tx
      .select({ n: count(), gb: sql<number>`coalesce(sum(${volumes.sizeGb}), 0)` })
      .from(volumes)
      .where(and(visible, which))
      .get()!
  return { lost: sum(isLost), leftBehind: sum(sql`${isLeftBehind} AND NOT ${isLost}`) }
}

const statements = prepared(({ $client }) => ({
  held: $client.prepare<{ n: number }, [string]>(
    'SELECT coalesce(sum(held_gb), 0) AS n FROM volumes WHERE owner_id = ?',
  ),
  heldUnder: $client.prepare<{ n: number }, [string]>(
    'SELECT coalesce(sum(held_gb), 0) AS n FROM volumes WHERE owner_id = ?1 OR reseller_id = ?1',
  ),
  on: $client.prepare<Pick<VolumeRow, 'id' | 'name' | 'state' | 'jobId' | 'pool'>, [string]>(
    'SELECT id, name, state, job_id AS jobId, pool FROM volumes WHERE node_id = ? ORDER BY id',
  ),
  lossHeldOn: $client.prepare<{ id: string; name: string }, [string]>(
    'SELECT id, name FROM volumes WHERE node_id = ? AND loss_held ORDER BY id',
  ),
  of: $client.prepare<{ id: string }, [string]>('SELECT id FROM volumes WHERE server_id = ? ORDER BY id'),
  changing: $client.prepare<{ id: string }, [string, string]>(
    'SELECT id FROM volumes WHERE last_server_id = ? AND owner_id = ? AND job_id IS NOT NULL ORDER BY id',
  ),
  detach: $client.prepare('UPDATE volumes SET server_id = NULL WHERE server_id = ?'),
  close: $client.prepare('UPDATE volume_intervals SET until = max(since, ?) WHERE volume_id = ? AND until IS NULL'),
  closeOn: $client.prepare(
    `UPDATE volume_intervals SET until = max(since, ?)
     WHERE until IS NULL AND volume_id IN (SELECT id FROM volumes WHERE node_id = ?)`,
  ),
  begin: $client.prepare(
    `INSERT INTO volume_intervals (volume_id, owner_id, reseller_id, name, storage_class, size_gb, since)
     SELECT v.id, v.owner_id, v.reseller_id, v.name, ?2, v.size_gb, ?3 FROM volumes v WHERE v.id = ?1`,
  ),
}))

/** GiB that the account itself has in volumes, with what they are growing to. */
export const volumesGbOf = (tx: Db, ownerId: string): number => statements(tx).held.get(ownerId)!.n
/** The same of a reseller and its customers together. */
export const volumesGbUnder = (tx: Db, resellerId: string): number => statements(tx).heldUnder.get(resellerId)!.n
/** The volumes that stand on a node. */
export const volumesOn = (tx: Db, nodeId: string) => statements(tx).on.all(nodeId)
/** Those whose loss with the node waits for a second person. */
export const volumesHeldOn = (tx: Db, nodeId: string) => statements(tx).lossHeldOn.all(nodeId)
/** The volumes of a server, the oldest first. */
export const volumesOf = (tx: Db, serverId: string): VolumeRow[] =>
  statements(tx)
    .of.all(serverId)
    .map(({ id }) => volumeById(tx, id)!)
/** The volumes of an owner that a job changes, and that this server has, had last, or is to get back. */
export const volumesChangedAt = (tx: Db, { id, ownerId }: { id: string; ownerId: string }): VolumeRow[] =>
  statements(tx)
    .changing.all(id, ownerId)
    .map((row) => volumeById(tx, row.id)!)
/** The volumes of a server that is gone belong to their owner alone. */
export const detachAllVolumes = (tx: Tx, serverId: string) => void statements(tx).detach.run(serverId)

// ---------------------------------------------------------------- the ledger
/** Notes how large a volume is from `now` on, in ms. */
export function noteVolumeUse(tx: Tx, volumeId: string, storageClass: string | null, now: number) {
  endVolumeUse(tx, volumeId, now)
  statements(tx).begin.run(volumeId, storageClass, now)
}
export const endVolumeUse = (tx: Tx, volumeId: string, now: number) => void statements(tx).close.run(now, volumeId)
/** The volumes of a node that is gone are used no more. */
export const endVolumeUseOn = (tx: Tx, nodeId: string, now: number) => void statements(tx).closeOn.run(now, nodeId)

/** The use of one volume in a period: `ms` is how long it was there, `gbMs` the sum of its size in GiB times that. */
export type VolumeUse = {
  volumeId: string
  ownerId: string
  name: string
  storageClass: string | null
  sizeGb: number
  ms: number
  gbMs: number
}
type Period = { from: number; to: number }
/** Over `volume_intervals i`: those that reach into the period, each with how much of it lies there. */
const within = ({ where, values }: Where, { from, to }: Period): { where: string; values: (string | number)[] } => ({
  where: `(SELECT i.*, min(coalesce(i.until, ?), ?) - max(i.since, ?) AS ms FROM volume_intervals i
    WHERE i.since < ? AND coalesce(i.until, ?) > ? AND ${where})`,
  values: [to, to, from, to, to, from, ...values],
})
/** By the volume; its name, class and size are those at the end of the period. Times in ms. */
export function volumeUse(
  tx: Db,
  visible: Where,
  period: Period,
  { after, skip, limit }: { after: string | undefined; skip: number; limit: number },
): VolumeUse[] {
  const { where, values } = within(visible, period)
  return tx.$client
    .query<VolumeUse, (string | number)[]>(
      // The plain columns are those of the interval with the largest `since`.
      `SELECT volume_id AS volumeId, owner_id AS ownerId, name, storage_class AS storageClass, size_gb AS sizeGb,
        max(since), sum(ms) AS ms, sum(ms * size_gb) AS gbMs
       FROM ${where} WHERE volume_id > ? GROUP BY volume_id ORDER BY volume_id LIMIT ? OFFSET ?`,
    )
    .all(...values, after ?? '', limit, skip)
}
export function countVolumesUsed(tx: Db, visible: Where, period: Period): number {
  const { where, values } = within(visible, period)
  return tx.$client
    .query<{ n: number }, (string | number)[]>(`SELECT count(DISTINCT volume_id) AS n FROM ${where}`)
    .get(...values)!.n
}
