// Which nodes can take a server, for one that is about to move and for people who look before: in the words of
// placement.
import { locationById } from '../../fleet/locations/queries.ts'
import { managementAddressOf, nodeNamesById } from '../../fleet/node-records/queries.ts'
import { capacityIn, type NodeCapacity } from '../../fleet/placement/capacity.ts'
import { byRuleOf, type Nodes } from '../../fleet/placement/placement.ts'
import { poolSpaceOf } from '../../fleet/storage-pools/queries.ts'
import { volumesOf } from '../../fleet/volume-records/queries.ts'
import type { Planned } from '../../fleet/workloads/stays/group-rule.ts'
import { judgeForMove } from '../../fleet/workloads/stays/second-node.ts'
import type { ArrivingVolume } from '../../fleet/workloads/stays/stays.ts'
import type { Db } from '../../kernel/db/open.ts'
import { lackingRoute } from '../../network/ip-pools/given.ts'
import type { Server } from '../server-records/model.ts'
import { isEmpty } from './movable.ts'

type Named = { nodeId: string; name: string; capacity: NodeCapacity | undefined }
/** A node that takes it, with the pool for its disk and those for its extra volumes. */
export type FitNode = Named & {
  disabledReason: undefined
  pool: string
  volumes: ArrivingVolume[]
  /** How it breaks the rule of the server's group, which is soft. */
  broken: string | undefined
}
type UnfitNode = Named & {
  disabledReason: string
  lacksAddress: boolean
  /** The rule of the server's group alone is in the way. */
  breaksGroup: boolean
}
export type JudgedNode = FitNode | UnfitNode
export const fits = (node: JudgedNode): node is FitNode => node.disabledReason === undefined

type Judging = { only?: string | undefined; capacities?: readonly NodeCapacity[]; planned?: Planned }
/**
 * Every node but its own: those that fit in the order in which its location takes them, then the others by name.
 * `only`: this node alone. `capacities`: of its location, where a plan has promised some of them; `planned`: to whom.
 */
export function judgeNodes(
  tx: Db,
  nodes: Nodes,
  server: Server,
  { only, capacities, planned }: Judging = {},
): JudgedNode[] {
  const isMeant = (id: string) => id !== server.nodeId && (only === undefined || id === only)
  const near = (capacities ?? capacityIn(tx, server.locationId)).filter(({ id }) => isMeant(id))
  const judged = near.map(judgeOf(tx, nodes, server, planned))
  const order = byRuleOf(locationById(tx, server.locationId)!)
  const breaks = ({ broken }: FitNode) => Number(broken !== undefined)
  const fitting = judged.filter(fits).sort((a, b) => breaks(a) - breaks(b) || order(a.capacity!, b.capacity!))
  const known = new Set(near.map(({ id }) => id))
  const elsewhere = nodeNamesById(tx)
    .filter(({ id }) => isMeant(id) && !known.has(id))
    .map(({ id, name }) => unfit({ nodeId: id, name, capacity: undefined }, 'in another location'))
  const others = [...judged.filter((node) => !fits(node)), ...elsewhere].sort((a, b) => (a.name < b.name ? -1 : 1))
  return [...fitting, ...others]
}

const unfit = (
  node: Named,
  disabledReason: string,
  { lacksAddress = false, breaksGroup = false }: Partial<UnfitNode> = {},
): UnfitNode => ({ ...node, disabledReason, lacksAddress, breaksGroup })

function judgeOf(tx: Db, nodes: Nodes, server: Server, planned: Planned | undefined) {
  const classOf = (pool: string) => poolSpaceOf(tx, { nodeId: server.nodeId, pool })?.class ?? null
  const volumes = volumesOf(tx, server.id).map(({ id, pool, sizeGb }) => ({
    volumeId: id,
    storageClass: classOf(pool),
    diskGb: sizeGb,
  }))
  const hardware = isEmpty(server) ? undefined : server
  const brought = { storageClass: classOf(server.pool), spareDiskGb: 0, hardware, cpuModel: server.cpuModel, volumes }
  const judge = judgeForMove(tx, server, brought, nodes, planned)
  return (capacity: NodeCapacity): JudgedNode => {
    const node = { nodeId: capacity.id, name: capacity.name, capacity }
    const there = judge(capacity)
    if ('disabledReason' in there)
      return unfit(node, there.disabledReason, {
        lacksAddress: lackingRoute(tx, server.id, capacity.id) !== undefined,
        breaksGroup: there.breaksGroup === true,
      })
    if (hardware && managementAddressOf(tx, capacity.id) === undefined)
      return unfit(node, 'no address between the nodes')
    return { ...node, disabledReason: undefined, ...there }
  }
}
