import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'

const FREE = 'a.workload_id IS NULL AND a.reserved_for IS NULL'
const statements = prepared(({ $client }) => ({
  hours: $client.prepare<{ hours: number }, [string]>(
    `SELECT p.quarantine_hours AS hours FROM addresses a JOIN pools p ON p.id = a.pool_id
     WHERE a.id = ? AND a.workload_id IS NULL AND a.holder_id IS NULL`,
  ),
  rest: $client.prepare<unknown, [number | null, string]>('UPDATE addresses SET rests_until = ? WHERE id = ?'),
  endDue: $client.prepare<unknown, [number, number]>(
    `UPDATE addresses SET rests_until = NULL WHERE id IN (
       SELECT id FROM addresses WHERE rests_until IS NOT NULL AND rests_until <= ? LIMIT ?)`,
  ),
  isAnyDue: $client.prepare<unknown, [number]>(
    'SELECT 1 FROM addresses WHERE rests_until IS NOT NULL AND rests_until <= ? LIMIT 1',
  ),
  // By the index of those that rest, however many addresses the pools have.
  resting: $client.prepare<{ n: number; first: number | null }, [string, number, number]>(
    `SELECT count(*) AS n, min(a.rests_until) AS first FROM pool_nodes pn
     JOIN addresses a INDEXED BY addresses_resting_of_pool ON a.pool_id = pn.pool_id
     WHERE pn.node_id = +?1 AND a.version = ?2 AND ${FREE} AND a.rests_until IS NOT NULL
       AND (?2 = 4 OR a.prefix_length = ?3)`,
  ),
  setHours: $client.prepare<unknown, [number, string]>('UPDATE pools SET quarantine_hours = ? WHERE id = ?'),
}))

/** The hours of its pool; undefined where something has the address. */
export const hoursOf = (tx: Db, addressId: string): number | undefined => statements(tx).hours.get(addressId)?.hours
export const setRest = (tx: Tx, addressId: string, until: number | null) =>
  void statements(tx).rest.run(until, addressId)
export const isAnyRestOver = (tx: Db, now: number): boolean => statements(tx).isAnyDue.get(now) !== null
/** Ends the rest of so many addresses whose time is over; answers how many. */
export const endRests = (tx: Tx, now: number, most: number): number => statements(tx).endDue.run(now, most).changes
/** The addresses, or prefixes of this length, that rest in the pools of the node, and when the first can be given. */
export const restingFor = (tx: Db, nodeId: string, version: 4 | 6, prefixLength = 0) =>
  statements(tx).resting.get(nodeId, version, prefixLength)!
export const setQuarantineHours = (tx: Tx, poolId: string, hours: number) =>
  void statements(tx).setHours.run(hours, poolId)
