// Addresses that a workload brings along, as one from another panel does: each is looked for in the pools of the nodes
// where the workload stays, and refused where anything else has it. A prefix that is not cut yet is cut early.
import { ApiError } from '../../kernel/api/errors.ts'
import { newId } from '../../kernel/db/ids.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { inserting } from '../../kernel/db/rows.ts'
import { type AddressLack, type Cut, hasPrefix, isFreePrefix, nextPlaceIn, pools6Of } from './allocate.ts'
import { awaitingReports, isGiven, withholdsFor } from './awaited.ts'
import { prefixIn, startOf } from './prefixes.ts'
import { type Network, toNetwork, toNumber, toText } from './ranges.ts'
import { type Address, addresses, type Pool } from './tables.ts'
import { vlanWords } from './vlan/carried.ts'
import { carriesVlan, isOffered, type Vlan } from './vlan/queries.ts'

type Row = Pick<Address, 'id' | 'poolId' | 'prefixLength' | 'workloadId' | 'reservedFor' | 'holderId'>
const columns = `a.id, a.pool_id AS poolId, a.prefix_length AS prefixLength, a.workload_id AS workloadId,
  a.reserved_for AS reservedFor, a.holder_id AS holderId`
const statements = prepared(({ $client }) => ({
  routed: $client.prepare<Row & { isGiven: number; vlan: Vlan }, [string, string]>(
    `SELECT ${columns}, ${isGiven('a.pool_id')} AS isGiven, p.vlan
     FROM addresses a JOIN pool_nodes pn ON pn.pool_id = a.pool_id AND pn.node_id = ? JOIN pools p ON p.id = a.pool_id
     WHERE a.address = ?`,
  ),
  unrouted: $client.prepare<
    Pick<Address, 'address' | 'version' | 'prefixLength'> & { uncarried: number | null },
    [string, string]
  >(
    `SELECT a.address, a.version, a.prefix_length AS prefixLength, (SELECT p.vlan FROM pools p JOIN pool_nodes pn
       ON pn.pool_id = p.id AND pn.node_id = ?2 WHERE p.id = a.pool_id) AS uncarried FROM addresses a
     WHERE a.workload_id = ?1
       AND NOT EXISTS (SELECT 1 FROM pool_nodes pn WHERE pn.pool_id = a.pool_id AND pn.node_id = ?2
         AND ${isOffered('pn.pool_id', '?2')})
     ORDER BY a.version, a.is_primary DESC, a.place LIMIT 1`,
  ),
  take: $client.prepare(
    `UPDATE addresses SET workload_id = ?, is_primary = ? WHERE id = ? AND workload_id IS NULL
     AND reserved_for IS NULL AND holder_id IS NULL`,
  ),
}))
const insert = inserting(addresses)

/** An address in one spelling: an IPv4 address, or an IPv6 prefix with its length. Undefined: it is neither. */
export function spelled(given: string): { text: string; version: 4 | 6; prefix?: Network } | undefined {
  const single = toNumber(given)
  if (single?.version === 4) return { text: toText(4, single.n), version: 4 }
  const prefix = toNetwork(given)
  return prefix?.version === 6 ? { text: `${toText(6, prefix.first)}/${prefix.bits}`, version: 6, prefix } : undefined
}

type Found = { row: Row; vlan: Vlan } | { pool: CutPool; prefix: Network; vlan: Vlan } | AddressLack
type CutPool = Cut & Pick<Pool, 'scope' | 'vlan'>
const lack = (words: string): AddressLack => ({ words, isAwaited: false, isTaken: false })
const taken = (words: string): AddressLack => ({ words, isAwaited: false, isTaken: true })
const uncarried = (text: string, vlan: Vlan) => lack(`no ${vlanWords(vlan)}, in which ${text} is`)
const awaited = (text: string): AddressLack => ({
  words: `${text} not known to be free before other nodes have reported`,
  isAwaited: true,
  isTaken: false,
})

/** The row of the address in the pools that the node routes, or the pool that cuts the prefix; else the lack. */
function find(tx: Db, nodeId: string, given: string): Found {
  const address = spelled(given)
  if (!address) return lack(`no pool with ${given}`)
  const { text, version, prefix } = address
  const row = statements(tx).routed.get(nodeId, text.split('/')[0]!)
  if (row && (!prefix || row.prefixLength === prefix.bits)) {
    if (!row.isGiven) return awaited(text)
    if (row.workloadId !== null) return taken(`${text} in use by ${row.workloadId}`)
    if (row.holderId !== null) return taken(`${text} in use as a floating address`)
    if (row.reservedFor !== null) return taken(`${text} reserved (${row.reservedFor})`)
    return carriesVlan(tx, nodeId, row.vlan) ? { row, vlan: row.vlan } : uncarried(text, row.vlan)
  }
  // Pools of one network are pieces of it. At a node, no two have an address in common.
  const pool = prefix && pools6Of(tx, nodeId).find((one) => hasPrefix(tx, one, prefix))
  if (!pool) return lack(`no pool with ${text}`)
  if (!carriesVlan(tx, nodeId, pool.vlan)) return uncarried(text, pool.vlan)
  if (withholdsFor(tx, nodeId, version)) return awaited(text)
  const other = prefixIn(tx, pool.id, prefix)
  if (other !== undefined) return taken(`${text} beside ${other}, which is cut already`)
  return isFreePrefix(tx, pool, prefix) ? { pool, prefix, vlan: pool.vlan } : lack(`no free prefix ${text}`)
}

/** The lack that keeps the node from giving these addresses, in words behind its name; undefined: there is none. */
export function lackingGiven(tx: Db, nodeId: string, given: readonly string[]): AddressLack | undefined {
  const all: Exclude<Found, AddressLack>[] = []
  for (const address of given) {
    const found = find(tx, nodeId, address)
    if ('words' in found) return found
    all.push(found)
  }
  return apart(all, given)
}
/** A card is in one network. */
function apart(all: readonly { vlan: Vlan }[], given: readonly string[]): AddressLack | undefined {
  const other = all.findIndex(({ vlan }) => vlan !== all[0]!.vlan)
  if (other < 0) return undefined
  const of = (n: number) => `${given[n]} (${vlanWords(all[n]!.vlan)})`
  return lack(`no network with both ${of(0)} and ${of(other)}`)
}

/** The VLAN of these addresses at the node, for which nothing lacks; undefined: none is given. */
export function vlanOfGiven(tx: Db, nodeId: string, given: readonly string[]): Vlan | undefined {
  const found = given.length ? find(tx, nodeId, given[0]!) : undefined
  return found && 'vlan' in found ? found.vlan : undefined
}

/**
 * The lack that keeps the node from carrying the addresses that the workload has, floating ones too: it does not route
 * the pool of each, or not its VLAN. In words behind its name; undefined: there is none.
 */
export function lackingRoute(tx: Db, workloadId: string, nodeId: string): AddressLack | undefined {
  const found = statements(tx).unrouted.get(workloadId, nodeId)
  if (!found) return undefined
  const text = `${found.address}${found.version === 6 ? `/${found.prefixLength}` : ''}`
  return found.uncarried === null ? lack(`no pool with ${text}`) : uncarried(text, found.uncarried)
}

/**
 * Gives these addresses to a workload that stays on these nodes, the first of each version as its primary one where
 * `isPrimary` says so. Throws `address_in_use` or `no_addresses` in words that name the address.
 */
export function takeGiven(tx: Tx, workloadId: string, nodeIds: readonly string[], given: readonly string[]) {
  const seen = new Set<4 | 6>()
  for (const nodeId of nodeIds) {
    const lacking = apart(
      given.flatMap((address) => {
        const found = find(tx, nodeId, address)
        return 'words' in found ? [] : [found]
      }),
      given,
    )
    if (lacking) throw new ApiError('no_addresses', `The server has ${lacking.words}. Choose addresses of one network.`)
  }
  for (const address of given) {
    const [first, ...others] = nodeIds.map((nodeId) => find(tx, nodeId, address))
    const found = [first!, ...others].find((one) => 'words' in one) ?? first!
    if ('words' in found) throw refusal(found, address)
    const { version } = spelled(address)!
    const isPrimary = !seen.has(version)
    seen.add(version)
    if ('row' in found) statements(tx).take.run(workloadId, isPrimary ? 1 : 0, found.row.id)
    else cutEarlyFor(tx, workloadId, found, isPrimary)
  }
}

function refusal({ words, isTaken, isAwaited }: AddressLack, address: string): ApiError {
  if (isAwaited) return awaitingReports('The node of this server')
  return isTaken
    ? new ApiError('address_in_use', `${words}. Free it there, or choose another address.`)
    : new ApiError('no_addresses', `${address} cannot be given: ${words}. Attach its pool to every node of the server.`)
}

function cutEarlyFor(
  tx: Tx,
  workloadId: string,
  { pool, prefix }: { pool: CutPool; prefix: Network },
  isPrimary: boolean,
) {
  insert(tx, {
    id: newId('ip'),
    poolId: pool.id,
    version: 6,
    address: toText(6, prefix.first),
    prefixLength: prefix.bits,
    rangeStart: startOf(prefix.first),
    place: nextPlaceIn(tx, pool.id),
    scope: pool.scope,
    cutEarly: true,
    isPrimary,
    workloadId,
  })
}
