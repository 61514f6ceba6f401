// The statements about usage. `usage_now` is a view: what each workload of any kind is now (0044_gpu_usage.sql).
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { monthOf, type Period, wholeMonth } from './period.ts'
import type { UsageInterval, UsageState } from './tables.ts'

// ---------------------------------------------------------------- the ledger
type Present = Omit<UsageInterval, 'id' | 'since' | 'until' | 'state'> & {
  /** Null: it is terminated. */
  state: UsageState | null
  createdAt: number
  suspendedAt: number | null
  terminatedAt: number | null
  /** When what runs of it ended, as its node said; null while it runs, and where nobody knows. */
  endedAt: number | null
  /** When the event was that says whether it runs; null before the first, and for kinds without. */
  spellAt: number | null
}
export type OpenInterval = UsageInterval & { until: null }
/** `present`: what it is now, undefined where its row is gone. `closedAt`: the end of its last closed interval. */
export type DueWorkload = {
  present: Present | undefined
  open: OpenInterval | undefined
  closedAt: number | null
}

const intervalColumns = `i.id, i.workload_id AS workloadId, i.kind, i.owner_id AS ownerId, i.reseller_id AS resellerId,
  i.hostname, i.product_id AS productId, i.product_name AS productName, i.billing_product_id AS billingProductId,
  i.billing_service_id AS billingServiceId, i.state, i.power, i.since, i.until`

const dueStatements = prepared(({ $client }) => ({
  ids: $client.prepare<{ id: string }, []>('SELECT workload_id AS id FROM usage_due'),
  present: $client.prepare<Present, [string]>(
    `SELECT workload_id AS workloadId, kind, owner_id AS ownerId, reseller_id AS resellerId, hostname,
      product_id AS productId, product_name AS productName, billing_product_id AS billingProductId,
      billing_service_id AS billingServiceId, state, power, created_at AS createdAt, suspended_at AS suspendedAt,
      terminated_at AS terminatedAt, ended_at AS endedAt, spell_at AS spellAt
     FROM usage_now WHERE workload_id = +?`, // +?: 2 µs instead of 16
  ),
  open: $client.prepare<OpenInterval, [string]>(
    `SELECT ${intervalColumns} FROM usage_intervals i WHERE i.workload_id = ? AND i.until IS NULL`,
  ),
  closedAt: $client.prepare<{ at: number | null }, [string]>(
    'SELECT max(until) AS at FROM usage_intervals WHERE workload_id = +?',
  ),
  settle: $client.prepare('DELETE FROM usage_due'),
}))

/** The workloads that changed in what is billed since the ledger was last kept. */
export function dueWorkloads(tx: Db): DueWorkload[] {
  const { ids, present, open, closedAt } = dueStatements(tx)
  return ids.all().map(({ id }) => {
    const found = open.get(id) ?? undefined
    return {
      present: present.get(id) ?? undefined,
      open: found,
      closedAt: found ? null : closedAt.get(id)!.at,
    }
  })
}
export const settled = (tx: Tx) => void dueStatements(tx).settle.run()

const factColumns = `kind, owner_id, reseller_id, hostname, product_id, product_name, billing_product_id,
  billing_service_id, state, power`
export const usageStatements = prepared(({ $client }) => ({
  insert: $client.prepare(
    `INSERT INTO usage_intervals (workload_id, ${factColumns}, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  close: $client.prepare('UPDATE usage_intervals SET until = ? WHERE id = ?'),
  amend: $client.prepare(
    `UPDATE usage_intervals SET (${factColumns}) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ? AND until IS NULL`,
  ),
  withdraw: $client.prepare('DELETE FROM usage_intervals WHERE id = ? AND until IS NULL'),
}))

// ---------------------------------------------------------------- reports; a `Where` is over `usage_intervals i`
/** The kind of workload that is billed by its power. */
export const GPU_INSTANCE = 'gpu_instance'
/** Servers. */
export const ofServers: Where = { where: "i.kind = 'server'", values: [] }
/** GPU instances. Their ids are one range of the index. */
export const ofGpuInstances: Where = {
  where: `i.kind = '${GPU_INSTANCE}' AND i.workload_id BETWEEN 'gpu_' AND 'gpu_~'`,
  values: [],
}
/** Workloads that were there at `since` (ms) or later. */
export const ofThoseThereSince = (since: number): Where => ({
  where: `EXISTS (SELECT 1 FROM usage_intervals e WHERE e.workload_id = i.workload_id
    AND (e.until IS NULL OR e.until > +?))`,
  values: [String(since)],
})

const OVERLAPS = 'i.since < +? AND (i.until IS NULL OR i.until > +?)'
const overlapping = ({ from, to }: Period) => [to, from] as const

type Product = Pick<UsageInterval, 'productId' | 'productName' | 'billingProductId'>
/** A workload under one owner: a line of a report. */
export type LineKey = { workloadId: string; ownerId: string }
export const keyTextOf = ({ workloadId, ownerId }: LineKey): string => `${workloadId} ${ownerId}`
export function keyFrom(text: string | undefined): LineKey | undefined {
  const [workloadId, ownerId] = text?.split(' ') ?? []
  return workloadId && ownerId ? { workloadId, ownerId } : undefined
}
/**
 * The workloads and owners with an interval in the period, newest workload first, behind the key `after`. The id of a
 * key is both.
 */
export function lineKeys(
  tx: Db,
  { where, values }: Where,
  period: Period,
  { after, skip, limit }: { after: LineKey | undefined; skip: number; limit: number },
): LineKey[] {
  return tx.$client
    .query<LineKey, (string | number)[]>(
      `SELECT i.workload_id AS workloadId, i.owner_id AS ownerId FROM usage_intervals i
       WHERE ${where} AND ${OVERLAPS}${after ? ' AND (i.workload_id, i.owner_id) < (?, ?)' : ''}
       GROUP BY i.workload_id, i.owner_id ORDER BY i.workload_id DESC, i.owner_id DESC LIMIT ? OFFSET ?`,
    )
    .all(...values, ...overlapping(period), ...(after ? [after.workloadId, after.ownerId] : []), limit, skip)
}
/**
 * Numbers of a report over everybody up to now: of intervals that go on, and of those that ended in the period. So
 * what is kept of earlier months is not read; for one owner or reseller their index has few.
 */
const overEverybody = ({ where, values }: Where, { from, to }: Period) =>
  // Of a month that is over, all that ended since would be looked up. Nothing lies in one that has not begun, and no
  // index answers a condition that is never true.
  values.length > 0 || from >= to || to === wholeMonth(monthOf(from)).to
    ? undefined
    : {
        open: `usage_intervals i INDEXED BY usage_intervals_now WHERE i.until IS NULL AND i.since < ?1 AND ${where}`,
        ended: `usage_intervals i INDEXED BY usage_intervals_ended
          WHERE i.until > ?2 AND i.since < ?1 AND ${where}`,
        goesOn: (key: string) =>
          `EXISTS (SELECT 1 FROM usage_intervals i WHERE ${key} AND i.until IS NULL AND i.since < ?1 AND ${where})`,
      }
const counted = (tx: Db, sql: string, values: readonly (string | number)[]): number =>
  tx.$client.query<{ n: number }, (string | number)[]>(sql).get(...values)!.n

export function countLines(tx: Db, filter: Where, period: Period): number {
  const parts = overEverybody(filter, period)
  const sql = parts
    ? `SELECT (SELECT count(*) FROM ${parts.open}) + (SELECT count(*) FROM
         (SELECT DISTINCT i.workload_id AS workloadId, i.owner_id AS ownerId FROM ${parts.ended}) e
         WHERE NOT ${parts.goesOn('i.workload_id = e.workloadId AND i.owner_id = e.ownerId')}) AS n`
    : `SELECT count(*) AS n FROM (SELECT 1 FROM usage_intervals i WHERE ${filter.where} AND ${OVERLAPS}
         GROUP BY i.workload_id, i.owner_id)`
  return counted(tx, sql, [...filter.values, ...overlapping(period)])
}

const millisecondsWithin = 'sum(min(coalesce(i.until, +?), +?) - max(i.since, +?))'
const limitsOf = ({ from, to }: Period) => [to, to, from] as const

/** How long a workload was one owner's, in one state and as one product: `ms` within the period, from `since` on. */
export type UsagePart = Product & LineKey & { state: UsageState; ms: number; since: number }
/** The parts of these workloads in the period, in the order in which they began. */
export const partsOf = (tx: Db, workloadIds: readonly string[], { where, values }: Where, period: Period) =>
  tx.$client
    .query<UsagePart, (string | number)[]>(
      `SELECT i.workload_id AS workloadId, i.owner_id AS ownerId, i.product_id AS productId,
        i.product_name AS productName, i.billing_product_id AS billingProductId, i.state,
        ${millisecondsWithin} AS ms, min(i.since) AS since
       FROM usage_intervals i WHERE i.workload_id IN (SELECT value FROM json_each(+?)) AND ${where} AND ${OVERLAPS}
       GROUP BY i.workload_id, i.owner_id, i.product_id, i.product_name, i.billing_product_id, i.state
       ORDER BY min(i.since)`,
    )
    .all(...limitsOf(period), JSON.stringify(workloadIds), ...values, ...overlapping(period))

/** The last interval of each of these workloads and owners in the period. */
export const lastIntervalsOf = (tx: Db, workloadIds: readonly string[], { where, values }: Where, period: Period) =>
  tx.$client
    .query<UsageInterval, (string | number)[]>(
      `SELECT ${intervalColumns} FROM usage_intervals i WHERE i.id IN (
         SELECT max(i.id) FROM usage_intervals i
         WHERE i.workload_id IN (SELECT value FROM json_each(+?)) AND ${where} AND ${OVERLAPS}
         GROUP BY i.workload_id, i.owner_id)`,
    )
    .all(JSON.stringify(workloadIds), ...values, ...overlapping(period))

/** The intervals of these workloads that reach into the period, in the order of time. */
export const intervalsOf = (tx: Db, workloadIds: readonly string[], { where, values }: Where, period: Period) =>
  tx.$client
    .query<UsageInterval, (string | number)[]>(
      `SELECT ${intervalColumns} FROM usage_intervals i
       WHERE i.workload_id IN (SELECT value FROM json_each(?)) AND ${where} AND ${OVERLAPS}
       ORDER BY i.workload_id, i.since`,
    )
    .all(JSON.stringify(workloadIds), ...values, ...overlapping(period))

/** The owners with an interval in the period, behind the id `after`. */
export function ownerIds(
  tx: Db,
  { where, values }: Where,
  period: Period,
  { after, skip, limit }: { after: string | undefined; skip: number; limit: number },
): string[] {
  return tx.$client
    .query<{ id: string }, (string | number)[]>(
      `SELECT i.owner_id AS id FROM usage_intervals i
       WHERE ${where} AND ${OVERLAPS}${after ? ' AND i.owner_id < ?' : ''}
       GROUP BY i.owner_id ORDER BY i.owner_id DESC LIMIT ? OFFSET ?`,
    )
    .all(...values, ...overlapping(period), ...(after ? [after] : []), limit, skip)
    .map(({ id }) => id)
}
export function countOwners(tx: Db, filter: Where, period: Period): number {
  const parts = overEverybody(filter, period)
  const sql = parts
    ? `SELECT (SELECT count(DISTINCT i.owner_id) FROM ${parts.open}) + (SELECT count(*) FROM
         (SELECT DISTINCT i.owner_id AS id FROM ${parts.ended}) e
         WHERE NOT ${parts.goesOn('i.owner_id = e.id')}) AS n`
    : `SELECT count(DISTINCT i.owner_id) AS n FROM usage_intervals i WHERE ${filter.where} AND ${OVERLAPS}`
  return counted(tx, sql, [...filter.values, ...overlapping(period)])
}

/** How many workloads of one kind one owner had of one product, and how long together in ms. */
export type OwnerTotal = Product & { ownerId: string; kind: string; workloads: number; ms: number }
export const totalsOf = (tx: Db, owners: readonly string[], { where, values }: Where, period: Period): OwnerTotal[] =>
  tx.$client
    .query<OwnerTotal, (string | number)[]>(
      `SELECT i.owner_id AS ownerId, i.kind, i.product_id AS productId, i.product_name AS productName,
        i.billing_product_id AS billingProductId, count(DISTINCT i.workload_id) AS workloads,
        ${millisecondsWithin} AS ms
       FROM usage_intervals i WHERE i.owner_id IN (SELECT value FROM json_each(?)) AND ${where} AND ${OVERLAPS}
       GROUP BY i.owner_id, i.kind, i.product_id, i.product_name, i.billing_product_id`,
    )
    .all(...limitsOf(period), JSON.stringify(owners), ...values, ...overlapping(period))

/** How many workloads of each kind these owners had in the period. */
export type OwnerWorkloads = { ownerId: string; kind: string; n: number }
export const workloadsOf = (tx: Db, owners: readonly string[], { where, values }: Where, period: Period) =>
  tx.$client
    .query<OwnerWorkloads, (string | number)[]>(
      `SELECT i.owner_id AS ownerId, i.kind, count(DISTINCT i.workload_id) AS n FROM usage_intervals i
       WHERE i.owner_id IN (SELECT value FROM json_each(?)) AND ${where} AND ${OVERLAPS} GROUP BY i.owner_id, i.kind`,
    )
    .all(JSON.stringify(owners), ...values, ...overlapping(period))

/** Intervals that reach into the period, newest first, behind the id `after`. */
export function pageOfIntervals(
  tx: Db,
  { where, values }: Where,
  period: Period,
  { after, skip, limit }: { after: string | undefined; skip: number; limit: number },
): UsageInterval[] {
  return tx.$client
    .query<UsageInterval, (string | number)[]>(
      `SELECT ${intervalColumns} FROM usage_intervals i WHERE ${where} AND ${OVERLAPS}${after ? ' AND i.id < ?' : ''}
       ORDER BY i.id DESC LIMIT ? OFFSET ?`,
    )
    .all(...values, ...overlapping(period), ...(after ? [Number(after)] : []), limit, skip)
}
export function countIntervals(tx: Db, filter: Where, period: Period): number {
  const parts = overEverybody(filter, period)
  const sql = parts
    ? `SELECT (SELECT count(*) FROM ${parts.open}) + (SELECT count(*) FROM ${parts.ended}) AS n`
    : `SELECT count(*) AS n FROM usage_intervals i WHERE ${filter.where} AND ${OVERLAPS}`
  return counted(tx, sql, [...filter.values, ...overlapping(period)])
}

const following = prepared(({ $client }) =>
  $client.prepare<unknown, [string, string, number]>(
    'SELECT 1 FROM usage_intervals WHERE workload_id = +? AND owner_id = +? AND since = +?',
  ),
)
/** Was the workload still this owner's when this interval ended? */
export const goesOn = (tx: Db, { workloadId, ownerId, until }: UsageInterval): boolean =>
  until === null || following(tx).get(workloadId, ownerId, until) !== null

type Holder = { ownerId: string; ms: number }
const holders = prepared(({ $client }) =>
  $client.prepare<Holder, [number, number, number, string, number, number]>(
    `SELECT i.owner_id AS ownerId, ${millisecondsWithin} AS ms FROM usage_intervals i
     WHERE i.workload_id = ? AND ${OVERLAPS} GROUP BY i.owner_id ORDER BY max(i.since) DESC`,
  ),
)
/** The owners of the workload in the period, the last one first, and how long it was theirs, in ms. */
export const ownersWithin = (tx: Db, workloadId: string, period: Period): Holder[] =>
  holders(tx).all(...limitsOf(period), workloadId, ...overlapping(period))

// ---------------------------------------------------------------- services as a billing system knows them
export type CurrentService = Pick<
  UsageInterval,
  'workloadId' | 'kind' | 'ownerId' | 'hostname' | 'billingProductId' | 'billingServiceId' | 'state'
>
type Listed = CurrentService & Pick<UsageInterval, 'resellerId'> & { isVisible: 0 | 1 }
/**
 * Servers and GPU instances that are there, in the order of their ids, behind the id `after`. Those that the condition
 * leaves out come too, as not visible: a statement that skips them may read all rows for one page.
 */
export const currentServices = (
  tx: Db,
  { where, values }: Where,
  { after, limit }: { after: string; limit: number },
): Listed[] =>
  tx.$client
    .query<Listed, (string | number)[]>(
      `SELECT ${where} AS isVisible, i.workload_id AS workloadId, i.kind, i.owner_id AS ownerId,
        i.reseller_id AS resellerId, i.hostname, i.billing_product_id AS billingProductId,
        i.billing_service_id AS billingServiceId, i.state
       FROM usage_intervals i INDEXED BY usage_intervals_open
       WHERE i.until IS NULL AND i.workload_id > ? ORDER BY i.workload_id LIMIT ?`,
    )
    .all(...values, after, limit)

const everOf = prepared(({ $client }) =>
  $client.prepare<{ n: number }, [string, string | null]>(
    `SELECT count(DISTINCT i.workload_id) AS n FROM usage_intervals i
     WHERE i.billing_service_id = +? AND i.reseller_id IS ?`,
  ),
)
/** How many workloads of this provider (null: the house) its billing system ever called so. */
export const workloadsEverOf = (tx: Db, resellerId: string | null, billingServiceId: string): number =>
  everOf(tx).get(billingServiceId, resellerId)!.n

type Ended = { workloadId: string; billingServiceId: string; among: 'house' | 'all' }
/**
 * When a server or GPU instance that is gone ended, in ms; undefined where the ledger has neither identifier. `among`:
 * whose identifiers of services are meant. One statement each: with OR between them neither index would be used.
 */
export function endOfService(tx: Db, { where, values }: Where, { workloadId, billingServiceId, among }: Ended) {
  const latest = (condition: string, id: string) =>
    tx.$client
      .query<{ at: number | null }, string[]>(
        `SELECT max(i.until) AS at FROM usage_intervals i WHERE ${condition} AND ${where}`,
      )
      .get(id, ...values)?.at ?? undefined
  const ofHouse = among === 'house' ? ' AND i.reseller_id IS NULL' : ''
  return (
    (workloadId ? latest('i.workload_id = ?', workloadId) : undefined) ??
    (billingServiceId ? latest(`i.billing_service_id = ?${ofHouse}`, billingServiceId) : undefined)
  )
}
