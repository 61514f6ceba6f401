// Placement of a GPU instance. A host fits when it is open, connected and able, and has the cards of the model, vCPUs,
// memory, space for /workspace, ports and, where the instance has an address of its own, a free one. Of those the host
// with the fewest cards of the model left afterwards is taken, so that whole hosts stay free for larger instances.
import type { Code } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { type AddressLack, lackingAddresses, type PoolSupply, supplyOf } from '../../network/ip-pools/allocate.ts'
import { waitsForNearReport } from '../../network/ip-pools/awaited.ts'
import type { Location } from '../locations/model.ts'
import { capacityOf, type NodeCapacity } from '../placement/capacity.ts'
import { lackAddressesMostly } from '../placement/main-cause.ts'
import { isSilent, type Nodes, reportsSoon } from '../placement/placement.ts'
import type { PoolSpace } from '../storage-pools/queries.ts'
import { gpuHostsIn, type HostRow, modelsOn } from './queries.ts'

/** An instance's needs: whole cards of one model, and what goes with them. */
export type GpuNeed = {
  model: string
  cards: number
  vcpus: number
  memoryMb: number
  workspaceGb: number
  /** Ports of the host that lead to it; none where it has an address of its own. */
  ports: number
  ownIpv4: boolean
}
export const addressNeed = ({ ownIpv4 }: Pick<GpuNeed, 'ownIpv4'>) => ({
  ...{ ipv4: ownIpv4 ? 1 : 0, ipv6Prefix: null },
  // The host itself answers for it, and takes part in no VLAN.
  vlan: null,
})

/** A host with what is left on it. Counting the stock takes from a copy. */
export type HostCapacity = {
  row: HostRow
  node: NodeCapacity
  /** Free cards, by model. */
  free: Map<string, number>
  freeVcpus: number
  freeMemoryMb: number
  freePorts: number
  /** Where workspaces stand: the first pool of files. */
  pool: PoolSpace | undefined
}

/** The hosts of a location that are not lost, by name. */
export function hostCapacitiesIn(tx: Db, locationId: string): HostCapacity[] {
  const rows = gpuHostsIn(tx, locationId)
  const models = Map.groupBy(
    modelsOn(
      tx,
      rows.map(({ nodeId }) => nodeId),
    ),
    ({ nodeId }) => nodeId,
  )
  return rows.map((row) => {
    const node = capacityOf(tx, row.nodeId)
    return {
      row,
      node,
      free: new Map((models.get(row.nodeId) ?? []).map(({ model, free }) => [model, free])),
      freeVcpus: row.threads - row.heldVcpus,
      freeMemoryMb: node.memoryMb - node.heldMemoryMb,
      freePorts: row.lastPort - row.firstPort + 1 - row.heldPorts,
      pool: workspacePool(node),
    }
  })
}

/** Workspaces are files of file systems of their own; `fake` is the pool of a simulated host. */
const workspacePool = ({ pools }: NodeCapacity): PoolSpace | undefined =>
  pools.find(({ kind, diskGb }) => (kind === 'file' || kind === 'fake') && diskGb > 0)

/** The limits that refuse an order, those first that say most about a location whose hosts differ. */
export const gpuStockLimits = [
  'reconnecting',
  'addresses',
  'memory',
  'vcpus',
  'disk',
  'ports',
  'cards',
  'disconnected',
  'closed',
  'no_node',
] as const
export type GpuStockLimit = (typeof gpuStockLimits)[number]
/** A host's lack; `words` follow its name. */
type Lack = { limit: GpuStockLimit; words: string; isAwaited?: boolean }

/** Why a host cannot take the instance, addresses and the connection apart; undefined: it can. */
function lackOf(
  { row, free, freeVcpus, freeMemoryMb, freePorts, pool }: HostCapacity,
  need: GpuNeed,
): Lack | undefined {
  if (!row.open) return { limit: 'closed', words: 'is closed' }
  if (row.engine === null || row.engineProblems !== '[]') return { limit: 'no_node', words: 'cannot run containers' }
  const cards = free.get(need.model) ?? 0
  if (cards < need.cards)
    return { limit: 'cards', words: cards ? `has ${count(cards, 'free card')} of the model` : 'has no free card' }
  if (freeVcpus < need.vcpus) return { limit: 'vcpus', words: 'has too few free vCPUs' }
  if (freeMemoryMb < need.memoryMb) return { limit: 'memory', words: 'has too little free memory' }
  if (!pool?.open || pool.freeDiskGb < need.workspaceGb) return { limit: 'disk', words: 'has too little free disk' }
  if (freePorts < need.ports) return { limit: 'ports', words: 'has too few free ports' }
  return undefined
}

function connectionLack({ row: { nodeId } }: HostCapacity, nodes: Nodes): Lack | undefined {
  if (isSilent(nodes, nodeId, 'containers'))
    return { limit: 'disconnected', words: 'has a container engine that does not answer' }
  if (nodes.connected(nodeId)) return undefined
  return nodes.isReconnecting(nodeId)
    ? { limit: 'reconnecting', words: 'is reconnecting' }
    : { limit: 'disconnected', words: 'is not connected' }
}

/** The order in which hosts that fit are taken: the fewest free cards first, then the least free memory. */
export const byFit =
  ({ model }: Pick<GpuNeed, 'model'>) =>
  (a: HostCapacity, b: HostCapacity): number =>
    a.free.get(model)! - b.free.get(model)! || a.freeMemoryMb - b.freeMemoryMb || (a.row.name < b.row.name ? -1 : 1)

/** Takes an instance from what is left of a host, in memory alone. */
function take(host: HostCapacity, need: GpuNeed) {
  host.free.set(need.model, host.free.get(need.model)! - need.cards)
  host.freeVcpus -= need.vcpus
  host.freeMemoryMb -= need.memoryMb
  host.freePorts -= need.ports
  host.pool = { ...host.pool!, freeDiskGb: host.pool!.freeDiskGb - need.workspaceGb }
}

/** A host that an order was tried on; with a lack it cannot take it. */
export type Judged = { host: HostCapacity; lack: Lack | undefined }
/** The addresses that a host lacks; undefined: it lacks none. */
type LackingAddress = (host: HostCapacity) => AddressLack | undefined
function judged(hosts: readonly HostCapacity[], need: GpuNeed, nodes: Nodes, lackingAddress: LackingAddress): Judged[] {
  return hosts.map((host) => {
    const connection = connectionLack(host, nodes)
    const lack = lackOf(host, need) ?? (connection?.limit === 'disconnected' ? connection : undefined)
    const address = !lack && need.ownIpv4 ? lackingAddress(host) : undefined
    return { host, lack: lack ?? (address ? { ...address, limit: 'addresses' } : connection) }
  })
}

/** Tries an order on these hosts, as they are in the database. */
export function judgeHosts(tx: Db, hosts: readonly HostCapacity[], need: GpuNeed, nodes: Nodes): Judged[] {
  const lackingAddress = lackingAddresses(tx, addressNeed(need))
  return judged(hosts, need, nodes, ({ row }) => {
    const lacking = lackingAddress(row.nodeId)
    return lacking && { ...lacking, words: `has ${lacking.words}` }
  })
}

const capacityLimits: readonly (GpuStockLimit | undefined)[] = ['memory', 'vcpus', 'disk', 'ports', 'cards']
const isCapacityLimit = (limit: GpuStockLimit | undefined) => capacityLimits.includes(limit)
/**
 * The limit that binds where no host fits, and the code with which an order is refused: the main cause. Hosts that have
 * no card of the model say nothing about it.
 */
export function refusalOf(
  hosts: readonly Judged[],
  { model }: Pick<GpuNeed, 'model'>,
): { limit: GpuStockLimit; code: Code } {
  const limits = new Set(hosts.map(({ lack }) => lack?.limit))
  const lacks = hosts.map(({ host, lack }) =>
    lack?.limit === 'addresses'
      ? 'address'
      : host.free.has(model) && isCapacityLimit(lack?.limit)
        ? 'capacity'
        : undefined,
  )
  if (!lackAddressesMostly(lacks)) limits.delete('addresses')
  const limit = gpuStockLimits.find((one) => limits.has(one)) ?? 'no_node'
  const code = limit === 'reconnecting' ? 'restarting' : limit === 'addresses' ? 'no_addresses' : 'no_capacity'
  return { limit, code }
}

/** Counting stops here: no shop sells more in one go. */
const MOST_COUNTED = 1000
/** `orMore`: the counting stopped there. */
export type GpuStock = { available: number; orMore: boolean; limit: GpuStockLimit; code: Code }

/**
 * How many instances of a need a location takes, one after another, as orders are placed, and what refuses the next
 * one; no more than `most` are counted. What is read for one need counts for the next.
 */
export function gpuStockCounter(
  tx: Db,
  nodes: Nodes,
  most = MOST_COUNTED,
): (location: Location, need: GpuNeed) => GpuStock {
  const known = new Map<string, HostCapacity[]>()
  let supply: PoolSupply | undefined
  return (location, need) => {
    if (!location.open) return { available: 0, orMore: false, limit: 'closed', code: 'location_closed' }
    const capacities = known.get(location.id) ?? hostCapacitiesIn(tx, location.id)
    known.set(location.id, capacities)
    const left = capacities.map((host) => ({ ...host, free: new Map(host.free) }))
    const addresses = new Map((need.ownIpv4 ? (supply ??= supplyOf(tx, addressNeed(need))) : undefined)?.free)
    const poolsOf = ({ row }: HostCapacity) => (supply?.attached.get(row.nodeId) ?? []).flatMap(({ v4 }) => v4)
    const poolWithAddress = (host: HostCapacity) => poolsOf(host).find((id) => addresses.get(id)! > 0)
    const lackingAddress = (host: HostCapacity) =>
      poolWithAddress(host) === undefined ? { words: 'has no free address', isAwaited: false } : undefined
    const order = byFit(need)
    for (let available = 0; ; available++) {
      const hosts = judged(left, need, nodes, lackingAddress)
      const fitting = hosts.filter(({ lack }) => !lack).map(({ host }) => host)
      if (!fitting.length) {
        const refusal = refusalOf(hosts, need)
        const nodeIds = capacities.map(({ row }) => row.nodeId)
        if (
          refusal.code !== 'no_addresses' ||
          !waitsForNearReport(tx, reportsSoon(tx, nodes), { ...addressNeed(need), nodeIds })
        )
          return { available, orMore: false, ...refusal }
        return { available, orMore: false, limit: 'reconnecting', code: 'restarting' }
      }
      if (available === most) return { available, orMore: true, limit: 'cards', code: 'no_capacity' }
      const host = fitting.reduce((best, one) => (order(one, best) < 0 ? one : best))
      const pool = need.ownIpv4 ? poolWithAddress(host)! : undefined
      if (pool !== undefined) addresses.set(pool, addresses.get(pool)! - 1)
      take(host, need)
    }
  }
}
