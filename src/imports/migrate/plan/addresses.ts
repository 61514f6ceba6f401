// The addresses of a server that comes: those that it keeps, each in a pool that its node routes, and how many others
// it gets. The pool of a range is made when the first server with an address in it comes.
import type { AppContext } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { attachPoolTo, makePool } from '../../../network/ip-pools/make/make-pool.ts'
import { allPools, nodeIdsOf, poolById } from '../../../network/ip-pools/queries.ts'
import { toNumber } from '../../../network/ip-pools/ranges.ts'
import { canMeet } from '../../../network/ip-pools/scope.ts'
import {
  addressesOfServer,
  type ImportAddress,
  type ImportRange,
  rangeRows,
  serversAfter,
} from '../../import-records/inventory/queries.ts'
import type { ImportRecord, ImportServer } from '../../import-records/model.ts'
import type { ServerPlan } from '../../mapping/plan.ts'
import { CannotMove } from '../failures.ts'
import { holdAtSource } from './holds.ts'

/** `nodeIds`: those that may take the server, all at `locationId`. `now`: in ms. */
type At = Pick<AppContext, 'registry'> & {
  tx: Tx
  target: ImportRecord
  locationId: string
  nodeIds: readonly string[]
  now: number
}
/** `kept`: IPv4 addresses and IPv6 prefixes with their length. `left`: those that its system has and gives up. */
export type GivenAddresses = { kept: string[]; newIpv4: number; left: string[] }

/** Throws `address_without_pool`, and as `makePool` and `attachPoolTo`. */
export function addressesFor(at: At, server: ImportServer, { way, addresses }: ServerPlan): GivenAddresses {
  const rows = new Map(addressesOfServer(at.tx, server.id).map((row) => [row.address, row]))
  const primaryFirst = addresses.toSorted(
    (a, b) => Number(rows.get(b.address)?.isPrimary ?? false) - Number(rows.get(a.address)?.isPrimary ?? false),
  )
  const given: GivenAddresses = { kept: [], newIpv4: 0, left: [] }
  for (const { address, becomes } of primaryFirst) {
    const row = rows.get(address)!
    if (becomes === 'undecided')
      throw new CannotMove('out_of_date', `Nothing is decided about its address ${address}. It was not touched.`)
    if (becomes === 'kept') {
      mustBeRouted(at, row, way === 'adopt')
      given.kept.push(row.version === 4 ? address : `${address}/${row.prefixLength ?? 128}`)
    } else {
      given.left.push(address)
      if (becomes === 'replaced' && row.version === 4) given.newIpv4++
    }
  }
  return given
}

/** The nodes route the pool of the address from then on, where the import made it, or the server is there already. */
function mustBeRouted(at: At, row: ImportAddress, isAdopted: boolean) {
  const { tx, target } = at
  const range = rangeRows.find(tx, target.id, row.rangeId)
  const pool = poolOfAddress(at, row, range)
  if (!pool) return makeFor(at, row, range)
  if (!isAdopted && range?.choice !== 'keep') return
  const before = nodeIdsOf(tx, pool.id)
  const more = at.nodeIds.filter((id) => !before.includes(id))
  if (more.length) attachPoolTo({ ...at, tx }, pool, [...before, ...more])
}

function poolOfAddress({ tx, locationId }: At, { address, version }: ImportAddress, range: ImportRange | undefined) {
  const chosen = range?.poolId ? poolById(tx, range.poolId) : undefined
  if (chosen) return chosen
  const n = toNumber(address)?.n
  return n === undefined
    ? undefined
    : allPools(tx).find(
        (pool) =>
          pool.version === version &&
          canMeet(pool.scope, locationId) &&
          toNumber(pool.first)!.n <= n &&
          n <= toNumber(pool.last)!.n,
      )
}

const MOST_RESOLVERS = 6
const MOST_NAME = 60
function makeFor(at: At, { address }: ImportAddress, range: ImportRange | undefined) {
  const { tx, target, now, nodeIds } = at
  if (!range?.network || !range.gateway)
    throw new CannotMove(
      'address_without_pool',
      `None of your pools has its address ${address}, and the other panel does not tell network and gateway, so that ` +
        'none can be made. It was not touched.',
    )
  const pool = makePool(
    { ...at, tx },
    {
      name: freeName(at, range.name),
      ...{ network: range.network, gateway: range.gateway },
      ...{ first: range.first ?? undefined, last: range.last ?? undefined },
      resolvers: range.resolvers.filter((one) => toNumber(one)).slice(0, MOST_RESOLVERS),
      nodeIds,
    },
    now,
  )
  rangeRows.change(tx, range, { poolId: pool.id })
  holdAll(tx, target)
}
/** Two ranges of other panels may be called the same. */
function freeName({ tx }: At, name: string): string {
  const taken = new Set(allPools(tx).map((pool) => pool.name))
  const base = name.trim().slice(0, MOST_NAME - 4) || 'Imported'
  for (let n = 1; ; n++) {
    const one = n === 1 ? base : `${base} ${n}`
    if (!taken.has(one)) return one
  }
}

const AT_ONCE = 500
/** No order gets an address of the new pool that a server of the import has at the source. */
function holdAll(tx: Tx, { id }: ImportRecord) {
  for (let after = ''; ; ) {
    const servers = serversAfter(tx, id, after, AT_ONCE)
    for (const server of servers)
      if (server.state !== 'moved' && server.state !== 'already_moved') holdAtSource(tx, server)
    const last = servers.at(-1)?.id
    if (servers.length < AT_ONCE || last === undefined) return
    after = last
  }
}
