// Which node each copy goes to: placed one after another by the rule of the location, like new orders, each from what
// those before it have left. Nothing is held by it, so the start of a copy places its server anew.
import type { Package } from '../../catalog/packages/model.ts'
import { packageById } from '../../catalog/packages/queries.ts'
import { locationById } from '../../fleet/locations/queries.ts'
import { capacityIn, type NodeCapacity } from '../../fleet/placement/capacity.ts'
import { type LackingAddress, type Nodes, type Placed, placeIn, remedies } from '../../fleet/placement/placement.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type AttachedPools, supplyOf } from '../../network/ip-pools/allocate.ts'
import { poolById } from '../../network/ip-pools/queries.ts'
import { type Finding, finding } from '../import-records/checks/findings.ts'
import type { Planned } from '../import-records/checks/queries.ts'
import { packageRows } from '../import-records/inventory/queries.ts'
import type { ImportRecord, ImportServer } from '../import-records/model.ts'
import { packageLike } from '../mapping/packages.ts'

export type Size = Pick<Package, 'memoryMb' | 'diskGb'> & { storageClass: string | null }
/** The size that it gets here: of the package that it becomes. Undefined: that is not known. */
export function sizeHere(tx: Db, target: ImportRecord, server: ImportServer): Size | undefined {
  const row = packageRows.find(tx, target.id, server.packageId)
  if (row?.choice === 'own') return packageById(tx, row.packageId!)
  if (row?.choice !== 'like') return undefined
  const { memoryMb, diskGb } = packageLike(row, target.billing)
  return memoryMb && diskGb ? { memoryMb, diskGb, storageClass: null } : undefined
}

type Wanted = {
  locationId: string
  size: Size
  /** Addresses that it gets from the pools of its node. */
  newIpv4: number
  /** Own pools in which addresses of it lie: they must be attached to its node. */
  poolIds: readonly string[]
}

/** Places servers, and counts what each takes. `planned`: what was placed before a crash. */
export class Placing {
  private capacities = new Map<string, NodeCapacity[]>()
  private supply: ReturnType<typeof supplyOf>

  constructor(
    private tx: Db,
    private nodes: Nodes,
    private planned: readonly Planned[],
  ) {
    this.supply = supplyOf(tx, { ipv4: 1, ipv6Prefix: null })
    for (const { nodeId, newIpv4 } of planned) this.takeAddresses(nodeId, newIpv4)
  }

  /** The node and pool; or why no node takes it. */
  place({ locationId, size, newIpv4, poolIds }: Wanted): Placed | Finding {
    const location = locationById(this.tx, locationId)
    if (!location) return finding('no_room', 'the location is gone')
    const need = { ...size, ipv4: newIpv4, ipv6Prefix: null, cpuModel: location.cpuModel }
    const planned = {
      capacities: this.capacitiesOf(locationId),
      lackingAddress: this.lacking(newIpv4, poolIds),
    }
    try {
      const placed = placeIn(this.tx, location, need, { nodes: this.nodes, namesNodes: true, planned })
      take(placed, size)
      this.takeAddresses(placed.node.id, newIpv4)
      return placed
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const words = error.message.replace(remedies.no_addresses, '').replace(/\.$/, '')
      return finding(error.code === 'no_addresses' ? 'no_addresses' : 'no_room', words)
    }
  }

  private capacitiesOf(locationId: string): NodeCapacity[] {
    const known = this.capacities.get(locationId)
    if (known) return known
    const read = capacityIn(this.tx, locationId)
    for (const node of read) for (const held of this.planned) if (held.nodeId === node.id) takeOn(node, held.pool, held)
    this.capacities.set(locationId, read)
    return read
  }

  private lacking =
    (newIpv4: number, poolIds: readonly string[]): LackingAddress =>
    (nodeId) => {
      const all = this.attachedTo(nodeId)
      const routed = all.flatMap(({ v4 }) => v4)
      const missing = poolIds.find((id) => !routed.includes(id))
      if (missing !== undefined) return lack(`does not route ${poolById(this.tx, missing)?.name ?? 'its pool'}`)
      const fitting = all.filter(({ v4 }) => poolIds.every((id) => v4.includes(id)))
      if (!fitting.length && poolIds.length) return lack('no network with the pools of all its addresses')
      if (newIpv4 === 0 || fitting.some((pools) => this.freeIn(pools) >= newIpv4)) return undefined
      return lack(newIpv4 === 1 ? 'no free IPv4 address' : `fewer than ${newIpv4} free IPv4 addresses`)
    }
  private attachedTo = (nodeId: string): readonly AttachedPools[] => this.supply.attached.get(nodeId) ?? []
  private freeIn = ({ v4 }: AttachedPools): number => v4.reduce((sum, id) => sum + (this.supply.free.get(id) ?? 0), 0)

  /** In one VLAN, as far as one has so many. */
  private takeAddresses(nodeId: string, wanted: number) {
    let left = wanted
    const all = this.attachedTo(nodeId)
    const from = all.find((pools) => this.freeIn(pools) >= wanted) ?? all[0]
    for (const id of from?.v4 ?? []) {
      const free = this.supply.free.get(id) ?? 0
      const taken = Math.min(free, left)
      this.supply.free.set(id, free - taken)
      left -= taken
    }
  }
}

const lack = (words: string) => ({ words, isAwaited: false })
const take = ({ node, pool }: Placed, size: Size) => takeOn(node, pool.name, size)
function takeOn(node: NodeCapacity, pool: string | null, { memoryMb, diskGb }: { memoryMb: number; diskGb: number }) {
  node.heldMemoryMb += memoryMb
  node.heldDiskGb += diskGb
  node.freeDiskGb -= diskGb
  const own = node.pools.find(({ name }) => name === pool)
  if (own) own.freeDiskGb -= diskGb
}
