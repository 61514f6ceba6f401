// The statements about who had which address. Two views: `address_holding_now`, and `address_history_lines` with the
// names of those in it.
import { endOf, type Slice } from '../../kernel/api/list.ts'
import type { Cause } from '../../kernel/audit/cause.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { toNumber, toText } from '../ip-pools/ranges.ts'
import type { Holding } from './tables.ts'

// ---------------------------------------------------------------- keeping it
export type Present = Pick<
  Holding,
  | 'addressId'
  | 'poolId'
  | 'address'
  | 'prefixLength'
  | 'version'
  | 'kind'
  | 'workloadId'
  | 'floatingIpId'
  | 'ownerId'
  | 'hostname'
  | 'floatingIpName'
>
const facts = `address_id AS addressId, pool_id AS poolId, address, prefix_length AS prefixLength, version, kind,
  workload_id AS workloadId, floating_ip_id AS floatingIpId, owner_id AS ownerId, hostname,
  floating_ip_name AS floatingIpName`
type Open = Present & Pick<Holding, 'id' | 'since'>
type CauseColumns = readonly [action: string | null, by: string | null, job: string | null]

const statements = prepared(({ $client }) => ({
  due: $client.prepare<{ id: string }, []>('SELECT address_id AS id FROM address_history_due'),
  settle: $client.prepare('DELETE FROM address_history_due'),
  present: $client.prepare<Present, [string]>(`SELECT ${facts} FROM address_holding_now WHERE address_id = +?`),
  open: $client.prepare<Open, [string]>(
    `SELECT id, since, ${facts} FROM address_history WHERE address_id = +? AND until IS NULL`,
  ),
  last: $client.prepare<{ id: number; until: number; restedUntil: number | null }, [string]>(
    `SELECT id, until, rested_until AS restedUntil FROM address_history
     WHERE address_id = +? AND until IS NOT NULL ORDER BY since DESC LIMIT 1`,
  ),
  begin: $client.prepare(
    `INSERT INTO address_history (address_id, pool_id, address, prefix_length, version, kind, workload_id,
       floating_ip_id, owner_id, hostname, floating_ip_name, since, began_action, began_by, began_job)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  amend: $client.prepare(
    `UPDATE address_history SET (kind, workload_id, floating_ip_id, owner_id, hostname, floating_ip_name) =
       (?, ?, ?, ?, ?, ?) WHERE id = ?`,
  ),
  end: $client.prepare<unknown, [number, ...CauseColumns, number]>(
    'UPDATE address_history SET until = ?, ended_action = ?, ended_by = ?, ended_job = ? WHERE id = ?',
  ),
  withdraw: $client.prepare<unknown, [number]>('DELETE FROM address_history WHERE id = ? AND until IS NULL'),
  rested: $client.prepare<unknown, [number, number]>('UPDATE address_history SET rested_until = ? WHERE id = ?'),
  forget: $client.prepare<unknown, [number, number]>(
    `DELETE FROM address_history WHERE id IN (
       SELECT id FROM address_history WHERE until IS NOT NULL AND until < ? LIMIT ?)`,
  ),
}))

/** The addresses that may have changed hands in this transaction, of which the history has not heard yet. */
export const dueIds = (tx: Db): string[] =>
  statements(tx)
    .due.all()
    .map(({ id }) => id)
export const dueSettled = (tx: Tx) => void statements(tx).settle.run()
export const presentOf = (tx: Db, addressId: string) => statements(tx).present.get(addressId) ?? undefined
export const openOf = (tx: Db, addressId: string) => statements(tx).open.get(addressId) ?? undefined
export const lastOf = (tx: Db, addressId: string) => statements(tx).last.get(addressId) ?? undefined

const columnsOf = (cause: Cause | undefined): CauseColumns =>
  cause ? [cause.action, cause.by, cause.jobId] : [null, null, null]
const changing = (of: Present) =>
  [of.kind, of.workloadId, of.floatingIpId, of.ownerId, of.hostname, of.floatingIpName] as const
export const isSame = (a: Present, b: Present): boolean =>
  a.kind === b.kind && a.workloadId === b.workloadId && a.floatingIpId === b.floatingIpId && a.ownerId === b.ownerId
export const begin = (tx: Tx, of: Present, since: number, cause: Cause | undefined) =>
  void statements(tx).begin.run(
    ...[of.addressId, of.poolId, of.address, of.prefixLength, of.version],
    ...[...changing(of), since, ...columnsOf(cause)],
  )
export const amend = (tx: Tx, id: number, of: Present) => void statements(tx).amend.run(...changing(of), id)
export const end = (tx: Tx, id: number, at: number, cause: Cause | undefined) =>
  void statements(tx).end.run(at, ...columnsOf(cause), id)
export const withdraw = (tx: Tx, id: number) => void statements(tx).withdraw.run(id)
export const noteRested = (tx: Tx, id: number, until: number) => void statements(tx).rested.run(until, id)
/** Deletes up to `most` holdings that ended before this time; answers how many. */
export const forgetEnded = (tx: Tx, before: number, most: number): number =>
  statements(tx).forget.run(before, most).changes

// ---------------------------------------------------------------- reading it
export type Line = Omit<Holding, 'sinceKnown'> & {
  sinceKnown: number
  name: string | null
  poolName: string | null
  workloadKind: string | null
  terminatedAt: number | null
  ownerName: string
  ownerKind: string | null
}
const lineColumns = `l.id, l.address_id AS addressId, l.pool_id AS poolId, l.address, l.prefix_length AS prefixLength,
  l.version, l.kind, l.workload_id AS workloadId, l.floating_ip_id AS floatingIpId, l.owner_id AS ownerId, l.hostname,
  l.floating_ip_name AS floatingIpName, l.since, l.since_known AS sinceKnown, l.began_action AS beganAction,
  l.began_by AS beganBy, l.began_job AS beganJob, l.until, l.ended_action AS endedAction, l.ended_by AS endedBy,
  l.ended_job AS endedJob, l.rested_until AS restedUntil, l.name, l.pool_name AS poolName,
  l.workload_kind AS workloadKind, l.workload_terminated_at AS terminatedAt, l.owner_name AS ownerName,
  l.owner_kind AS ownerKind`

/** The spellings under which a whole address can be stored: its own, and each IPv6 prefix that it lies in. */
export function storedAs(
  text: string,
): readonly (readonly [address: string, prefixLength: number | null])[] | undefined {
  const whole = toNumber(text)
  if (!whole) return undefined
  if (whole.version === 4) return [[toText(4, whole.n), null]]
  return Array.from({ length: 113 }, (_, host) => {
    const first = (whole.n >> BigInt(host)) << BigInt(host)
    return [toText(6, first), 128 - host] as const
  })
}

/** Selects the holdings of an address; `at`: those of this moment alone. */
export function ofAddress(stored: NonNullable<ReturnType<typeof storedAs>>, at: number | undefined): Where {
  const then = at === undefined ? '' : ' AND h.since <= +? AND (h.until IS NULL OR h.until > +?)'
  return {
    where: `l.id IN (SELECT h.id FROM json_each(+?) e CROSS JOIN address_history h ON h.address = e.value ->> 0
      AND (e.value ->> 1 IS NULL OR h.prefix_length = e.value ->> 1)${then})`,
    values: [JSON.stringify(stored), ...(at === undefined ? [] : [String(at), String(at)])],
  }
}
/** Selects the holdings of the addresses of a pool. */
export const ofPool = (poolId: string): Where => ({ where: 'l.pool_id = +?', values: [poolId] })

/** A page of them, the newest first. */
export function linesOf(tx: Db, { where, values }: Where, slice: Slice): Line[] {
  const rest = endOf(slice, 'l.id')
  return tx.$client
    .query<Line, (string | number)[]>(`SELECT ${lineColumns} FROM address_history_lines l WHERE ${where}${rest.sql}`)
    .all(...values, ...rest.values)
}
export const countLines = (tx: Db, { where, values }: Where): number =>
  tx.$client
    .query<{ n: number }, (string | number)[]>(`SELECT count(*) AS n FROM address_history l WHERE ${where}`)
    .get(...values)!.n
