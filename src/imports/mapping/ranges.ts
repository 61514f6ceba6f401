// The choices for each range of addresses of the other panel.
import { count } from '../../kernel/words.ts'
import { type Network, overlap, toNetwork, toNumber } from '../../network/ip-pools/ranges.ts'
import { canMeet, isPrivateRange } from '../../network/ip-pools/scope.ts'
import { addressesInRange, everyRow, type ImportRange } from '../import-records/inventory/queries.ts'
import { type Facts, type Offer, type OwnPool, offer, withheld } from './facts.ts'
import { locationFor } from './hypervisors.ts'

export type RangeChoice = NonNullable<ImportRange['choice']>

type Bounds = Pick<Network, 'version' | 'first' | 'last'>
/** From its first to its last address; undefined where the panel tells neither. */
export function boundsOf(row: Pick<ImportRange, 'version' | 'first' | 'last' | 'network'>): Bounds | undefined {
  const [first, last] = [toNumber(row.first ?? ''), toNumber(row.last ?? '')]
  if (first && last && first.version === row.version && last.version === row.version && first.n <= last.n)
    return { version: row.version, first: first.n, last: last.n }
  return networkOf(row)
}
/** The network of the pool that would be made for it. */
export const networkOf = ({ version, network }: Pick<ImportRange, 'version' | 'network'>): Network | undefined => {
  const found = network === null ? undefined : toNetwork(network)
  return found?.version === version ? found : undefined
}

const boundsOfPool = ({ version, first, last }: OwnPool): Bounds => ({
  version,
  first: toNumber(first)!.n,
  last: toNumber(last)!.n,
})

/** Own pools that mean the same addresses: of private addresses, those at the locations where the servers go. */
function poolsThatMeet(facts: Facts, row: ImportRange): readonly OwnPool[] {
  const network = networkOf(row) ?? boundsOf(row)
  if (!network || !isPrivateRange({ ...network, bits: 0 })) return facts.pools
  const ids = facts.hypervisorIdsOf(row.sourceId)
  const locations = facts.hypervisors.filter(({ sourceId }) => ids.has(sourceId)).map((one) => locationFor(facts, one))
  return facts.pools.filter(({ scope }) => locations.some((id) => id === undefined || canMeet(scope, id)))
}

/** The own pool that the range lies in as a whole; its servers keep their addresses there. */
export function poolOf(facts: Facts, row: ImportRange): OwnPool | undefined {
  const bounds = boundsOf(row)
  if (!bounds) return undefined
  return poolsThatMeet(facts, row).find((pool) => {
    const own = boundsOfPool(pool)
    return own.version === bounds.version && own.first <= bounds.first && bounds.last <= own.last
  })
}

/** Why no pool can be made for the range; undefined: one can. */
function keepsNot(facts: Facts, row: ImportRange, isAdopted: boolean): string | undefined {
  const pool = poolOf(facts, row)
  if (pool) return `The range lies in your pool ${pool.name}: choose that it is part of it.`
  const network = networkOf(row)
  if (!network) return 'The other panel does not tell the network of these addresses, so no pool can be made for them.'
  if (!row.gateway) return 'The other panel does not tell the gateway of the range, so no pool can be made for it.'
  if (row.reach !== 'public' && !isAdopted)
    return 'The range is not routed from outside: its addresses mean nothing on other hosts.'
  const own = poolsThatMeet(facts, row).find((one) => overlap(network, toNetwork(one.network)!))
  if (own) return `The range overlaps with your pool ${own.name}, and no address may be in two pools.`
  for (const other of everyRow(facts.tx, 'ranges', facts.target.id)) {
    const theirs = other.choice === 'keep' && other.sourceId !== row.sourceId ? networkOf(other) : undefined
    if (theirs && overlap(network, theirs)) return `The range overlaps with ${other.name}, which keeps its addresses.`
  }
  return undefined
}

/** The choices of a range. */
export function offersOfRange(facts: Facts, row: ImportRange): Offer<RangeChoice>[] {
  const ids = facts.hypervisorIdsOf(row.sourceId)
  const theirs = facts.hypervisors.filter(({ sourceId }) => ids.has(sourceId))
  const isAdopted = theirs.length > 0 && theirs.every(({ choice }) => choice === 'adopt')
  const pool = poolOf(facts, row)
  const lack = keepsNot(facts, row, isAdopted)
  const used = addressesInRange(facts.tx, facts.target.id, row.sourceId)
  return [
    lack
      ? withheld('keep', lack)
      : offer('keep', 'A new pool for it is added when its first server moves. Route the range to your nodes.'),
    isAdopted
      ? withheld('new', 'All its servers are adopted, and adopted servers keep their addresses.')
      : row.version === 6
        ? offer('new', 'Copies lose these addresses.')
        : offer(
            'new',
            `${count(used, 'address', 'addresses')} from the pools of the nodes; copies lose their IPv6 addresses.`,
          ),
    pool
      ? offer('pool', `Inside your pool ${pool.name}; servers keep their addresses.`)
      : withheld('pool', 'The range is in none of your pools.'),
    offer('leave_out', 'Servers with addresses in it stay on the source.'),
  ]
}

/** Part of a pool where it lies in one. Whether a range is routed to the nodes, only a person knows: null. */
export function proposalOfRange(facts: Facts, row: ImportRange): { choice: RangeChoice; poolId: string | null } | null {
  const pool = poolOf(facts, row)
  return pool ? { choice: 'pool', poolId: pool.id } : null
}
