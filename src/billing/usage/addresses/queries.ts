// The statements about who had which address. `address_now` is a view: who has each of them now.
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import type { Where } from '../../../kernel/db/rows.ts'
import type { Period } from '../period.ts'
import type { AddressInterval } from './tables.ts'

// ---------------------------------------------------------------- the ledger
type Present = Omit<AddressInterval, 'id' | 'since' | 'until'> & {
  /** When it was taken, in ms; null: no row says it. */
  createdAt: number | null
}
export type DueAddress = {
  /** Undefined: nobody has it who is billed for it. */
  present: Present | undefined
  open: AddressInterval | undefined
  /** The end of its last interval, in ms. */
  closedAt: number | null
}

const factColumns = `address_id AS addressId, address, prefix_length AS prefixLength, version, kind,
  holder_id AS holderId, workload_id AS workloadId, owner_id AS ownerId, reseller_id AS resellerId,
  billing_service_id AS billingServiceId`
const dueStatements = prepared(({ $client }) => ({
  ids: $client.prepare<{ id: string }, []>('SELECT address_id AS id FROM address_due'),
  present: $client.prepare<Present, [string]>(
    `SELECT ${factColumns}, created_at AS createdAt FROM address_now WHERE address_id = +?`,
  ),
  open: $client.prepare<AddressInterval, [string]>(
    `SELECT id, ${factColumns}, since, until FROM address_intervals WHERE address_id = +? AND until IS NULL`,
  ),
  closedAt: $client.prepare<{ at: number | null }, [string]>(
    'SELECT max(until) AS at FROM address_intervals WHERE address_id = +?',
  ),
  settle: $client.prepare('DELETE FROM address_due'),
}))

/** The addresses that changed hands since the ledger was last kept. */
export function dueAddresses(tx: Db): DueAddress[] {
  const { ids, present, open, closedAt } = dueStatements(tx)
  return ids.all().map(({ id }) => ({
    present: present.get(id) ?? undefined,
    open: open.get(id) ?? undefined,
    closedAt: closedAt.get(id)!.at,
  }))
}
export const addressesSettled = (tx: Tx) => void dueStatements(tx).settle.run()

const facts = `address, prefix_length, version, kind, holder_id, workload_id, owner_id, reseller_id,
  billing_service_id`
export const addressStatements = prepared(({ $client }) => ({
  insert: $client.prepare(
    `INSERT INTO address_intervals (address_id, ${facts}, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  close: $client.prepare('UPDATE address_intervals SET until = ? WHERE id = ?'),
  amend: $client.prepare(`UPDATE address_intervals SET (${facts}) = (?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?`),
  withdraw: $client.prepare('DELETE FROM address_intervals WHERE id = ? AND until IS NULL'),
}))

// ---------------------------------------------------------------- reports; a `Where` is over `address_intervals i`
/** Addresses beside those that come with a workload. */
export const ofBilledAddresses: Where = { where: "i.kind IN ('extra', 'floating')", values: [] }

/** An address that one thing had under one owner; the facts are those at the end of the period. Times in ms. */
export type AddressUse = Omit<AddressInterval, 'id' | 'since'> & {
  /** When it began in the period. */
  since: number
  ms: number
}
export type UseKey = Pick<AddressInterval, 'addressId' | 'holderId' | 'ownerId'>
export const useKeyTextOf = ({ addressId, holderId, ownerId }: UseKey): string => `${addressId} ${holderId} ${ownerId}`
const partsOfKey = (text: string | undefined): string[] | undefined => {
  const parts = text?.split(' ')
  return parts?.length === 3 ? parts : undefined
}

const OVERLAPS = 'i.since < +? AND (i.until IS NULL OR i.until > +?)'
const overlapping = ({ from, to }: Period) => [to, from] as const
const KEY = 'i.address_id, i.holder_id, i.owner_id'

/** The lines of a report, newest address first, behind the key `after`. */
export function addressUse(
  tx: Db,
  { where, values }: Where,
  period: Period,
  { after, skip, limit }: { after: string | undefined; skip: number; limit: number },
): AddressUse[] {
  const { from, to } = period
  const behind = partsOfKey(after)
  return tx.$client
    .query<AddressUse, (string | number)[]>(
      `WITH lines AS (
         SELECT ${KEY}, max(i.id) AS last, max(min(i.since), +?) AS began,
           sum(min(coalesce(i.until, +?), +?) - max(i.since, +?)) AS ms
         FROM address_intervals i
         WHERE ${where} AND ${OVERLAPS}${behind ? ` AND (${KEY}) < (?, ?, ?)` : ''}
         GROUP BY ${KEY} ORDER BY i.address_id DESC, i.holder_id DESC, i.owner_id DESC LIMIT ? OFFSET ?)
       SELECT i.address_id AS addressId, i.address, i.prefix_length AS prefixLength, i.version, i.kind,
         i.holder_id AS holderId, i.workload_id AS workloadId, i.owner_id AS ownerId, i.reseller_id AS resellerId,
         i.billing_service_id AS billingServiceId, i.until, l.began AS since, l.ms
       FROM lines l JOIN address_intervals i ON i.id = l.last
       ORDER BY i.address_id DESC, i.holder_id DESC, i.owner_id DESC`,
    )
    .all(from, to, to, from, ...values, ...overlapping(period), ...(behind ?? []), limit, skip)
}
export const countAddressUse = (tx: Db, { where, values }: Where, period: Period): number =>
  tx.$client
    .query<{ n: number }, (string | number)[]>(
      `SELECT count(*) AS n FROM (SELECT 1 FROM address_intervals i WHERE ${where} AND ${OVERLAPS} GROUP BY ${KEY})`,
    )
    .get(...values, ...overlapping(period))!.n
