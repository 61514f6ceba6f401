// Placement of a GPU instance. A host fits when it is open, connected and able, and has the cards of the model, vCPUs,
// memory, space for /workspace, ports and, where the instance has an address of its own, a free one. Of those the host
// with the fewest cards of the model left afterwards is taken, so that whole hosts stay free for larger instances.
import type { Code } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { lackingAddresses, type PoolSupply, supplyOf } from '../../network/ip-pools/allocate.ts'
import type { Location } from '../locations/model.ts'
import { capacityOf, type NodeCapacity } from '../nodes/queries.ts'
import type { Nodes } from '../placement/placement.ts'
import type { PoolRoom } from '../storage-pools/queries.ts'
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
export const addressNeed = ({ ownIpv4 }: Pick<GpuNeed, 'ownIpv4'>) => ({ ipv4: ownIpv4 ? 1 : 0, ipv6Prefix: null })

/** A host with what is left on it. Counting the stock takes from a copy. */
export type HostRoom = {
  row: HostRow
  node: NodeCapacity
  /** Free cards, by model. */
  free: Map<string, number>
  freeVcpus: number
  freeMemoryMb: number
  freePorts: number
  /** Where workspaces stand: the first pool of files. */
  pool: PoolRoom | undefined
}

/** The hosts of a location that are not lost, by name. */
export function hostRoomsIn(tx: Db, locationId: string): HostRoom[] {
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
const workspacePool = ({ pools }: NodeCapacity): PoolRoom | undefined =>
  pools.find(({ kind, diskGb }) => (kind === 'file' || kind === 'fake') && diskGb > 0)

/** Why a host cannot take the instance, addresses and the connection apart; undefined: it can. */
export function lackOf({ row, free, freeVcpus, freeMemoryMb, freePorts, pool }: HostRoom, need: GpuNeed) {
  if (!row.open) return 'is closed'
  if (row.engine === null || row.engineProblems !== '[]') return 'cannot run containers'
  const cards = free.get(need.model) ?? 0
  if (cards < need.cards) return cards ? `has ${count(cards, 'free card')} of the model` : 'has no free card'
  if (freeVcpus < need.vcpus) return 'has too few free vCPUs'
  if (freeMemoryMb < need.memoryMb) return 'has too little free memory'
  if (!pool?.open || pool.freeDiskGb < need.workspaceGb) return 'has too little free disk'
  if (freePorts < need.ports) return 'has too few free ports'
  return undefined
}

export const RECONNECTING = 'is reconnecting'
const DISCONNECTED = 'is not connected'
export const connectionLack = ({ row }: HostRoom, nodes: Nodes): string | undefined =>
  nodes.connected(row.nodeId) ? undefined : nodes.isReconnecting(row.nodeId) ? RECONNECTING : DISCONNECTED

/** The order in which hosts that fit are taken: the fewest free cards first, then the least free memory. */
export const byFit =
  ({ model }: Pick<GpuNeed, 'model'>) =>
  (a: HostRoom, b: HostRoom): number =>
    a.free.get(model)! - b.free.get(model)! || a.freeMemoryMb - b.freeMemoryMb || (a.row.name < b.row.name ? -1 : 1)

/** Takes an instance from what is left of a host, in memory alone. */
function take(host: HostRoom, need: GpuNeed) {
  host.free.set(need.model, host.free.get(need.model)! - need.cards)
  host.freeVcpus -= need.vcpus
  host.freeMemoryMb -= need.memoryMb
  host.freePorts -= need.ports
  host.pool = { ...host.pool!, freeDiskGb: host.pool!.freeDiskGb - need.workspaceGb }
}

/** A host that an order was tried on; with a lack it cannot take it. */
export type Judged = { host: HostRoom; lack: string | undefined; lacksAddress: boolean }
export function judgeHosts(tx: Db, rooms: readonly HostRoom[], need: GpuNeed, nodes: Nodes): Judged[] {
  const lackingAddress = lackingAddresses(tx, addressNeed(need))
  return rooms.map((host) => {
    const lack = lackOf(host, need)
    const connection = connectionLack(host, nodes)
    if (lack !== undefined || connection === DISCONNECTED)
      return { host, lack: lack ?? connection, lacksAddress: false }
    const address = need.ownIpv4 ? lackingAddress(host.row.nodeId) : undefined
    if (address) return { host, lack: `has ${address}`, lacksAddress: true }
    return { host, lack: connection, lacksAddress: false }
  })
}

/** The code with which an order is refused where no host fits. */
export function refusalOf(judged: readonly Judged[]): Code {
  if (judged.some(({ lack }) => lack === RECONNECTING)) return 'restarting'
  return judged.some(({ lacksAddress }) => lacksAddress) ? 'no_addresses' : 'no_capacity'
}

/** Counting stops here: no shop sells more in one go. */
const MOST_COUNTED = 1000

/** How many instances of a need a location takes, one after another, as orders are placed. */
export function gpuStockCounter(tx: Db, nodes: Nodes): (location: Location, need: GpuNeed) => number {
  const known = new Map<string, HostRoom[]>()
  let supply: PoolSupply | undefined
  return (location, need) => {
    if (!location.open) return 0
    const rooms = known.get(location.id) ?? hostRoomsIn(tx, location.id)
    known.set(location.id, rooms)
    const left = rooms
      .filter((host) => connectionLack(host, nodes) === undefined)
      .map((host) => ({ ...host, free: new Map(host.free) }))
    const addresses = new Map((need.ownIpv4 ? (supply ??= supplyOf(tx, addressNeed(need))) : undefined)?.free)
    const poolsOf = ({ row }: HostRoom) => supply?.attached.get(row.nodeId)?.v4 ?? []
    const poolWithAddress = (host: HostRoom) => poolsOf(host).find((id) => addresses.get(id)! > 0)
    let counted = 0
    while (counted < MOST_COUNTED) {
      const fitting = left.filter(
        (host) => lackOf(host, need) === undefined && (!need.ownIpv4 || poolWithAddress(host) !== undefined),
      )
      if (!fitting.length) break
      const order = byFit(need)
      const host = fitting.reduce((best, one) => (order(one, best) < 0 ? one : best))
      const pool = need.ownIpv4 ? poolWithAddress(host)! : undefined
      if (pool !== undefined) addresses.set(pool, addresses.get(pool)! - 1)
      take(host, need)
      counted++
    }
    return counted
  }
}
