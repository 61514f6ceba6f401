// Which nodes can take a server, for one that is about to move and for people who look before: in the words of
// placement.
import { locationById, movesFrom } from '../../fleet/locations/queries.ts'
import { managementAddressOf, nodeNamesById } from '../../fleet/node-records/queries.ts'
import { byRuleOf } from '../../fleet/placement/candidates.ts'
import { capacityIn, type NodeCapacity } from '../../fleet/placement/capacity.ts'
import type { Lack } from '../../fleet/placement/main-cause.ts'
import type { Nodes } from '../../fleet/placement/placement.ts'
import { poolSpaceOf } from '../../fleet/storage-pools/queries.ts'
import { volumesOf } from '../../fleet/volume-records/queries.ts'
import type { Planned } from '../../fleet/workloads/stays/group-rule.ts'
import { type DiskPlace, judgeForMove, type SecondNode } from '../../fleet/workloads/stays/second-node.ts'
import type { Db } from '../../kernel/db/open.ts'
import { lackingRoute } from '../../network/ip-pools/given.ts'
import type { Server } from '../server-records/model.ts'
import { isEmpty } from './movable.ts'
import { addressNeedOf, readdressObstacle, unroutedFloating } from './readdressing/addresses.ts'
import { heldAddressesOn, heldOf } from './readdressing/held.ts'

type Named = { nodeId: string; name: string; capacity: NodeCapacity | undefined }
type Places = Extract<SecondNode, DiskPlace>
/** A node that takes it, with the pool for its disk and those for its extra volumes. */
export type FitNode = Named &
  DiskPlace & {
    disabledReason: undefined
    volumes: Places['volumes']
    /** How it breaks the rule of the server's group, which is soft. */
    broken: string | undefined
    /** Its pools do not carry the server's addresses: the server gets others there. */
    newAddresses: boolean
    /** Among these are addresses that the server had there before, and that are held for it. */
    getsBack: boolean
  }
type UnfitNode = Named & {
  disabledReason: string
  /** With other addresses it may fit. */
  lacksAddress: boolean
  lack: Lack | undefined
  /** The rule of the server's group alone is in the way. */
  breaksGroup: boolean
  /** Why it cannot be given other addresses anywhere. */
  obstacle: string | undefined
}
export type JudgedNode = FitNode | UnfitNode
export const fits = (node: JudgedNode): node is FitNode => node.disabledReason === undefined

type Judging = {
  only?: string | undefined
  capacities?: readonly NodeCapacity[]
  planned?: Planned | undefined
  readdress?: boolean | undefined
}
/**
 * Every node but its own: those that fit in the order in which its location takes them, then the others by name.
 * `only`: this node alone. `capacities`: of its location, where a plan has promised some of them; `planned`: to whom.
 * `readdress`: also those where it gets new addresses, behind the others: of its location, and of those to which its
 * location allows moves.
 */
export function judgeNodes(
  tx: Db,
  nodes: Nodes,
  server: Server,
  { only, capacities, planned, readdress = false }: Judging = {},
): JudgedNode[] {
  const isMeant = (id: string) => id !== server.nodeId && (only === undefined || id === only)
  const near = (capacities ?? capacityIn(tx, server.locationId)).filter(({ id }) => isMeant(id))
  const here = near.map(judgeOf(tx, nodes, server, { planned }))
  const judged = readdress ? [...here.map(readdressing(tx, nodes, server)), ...far(tx, nodes, server, isMeant)] : here
  const order = byRuleOf(locationById(tx, server.locationId)!)
  const breaks = ({ broken }: FitNode) => Number(broken !== undefined)
  const fitting = judged
    .filter(fits)
    .sort(
      (a, b) =>
        Number(a.newAddresses) - Number(b.newAddresses) || breaks(a) - breaks(b) || order(a.capacity!, b.capacity!),
    )
  const known = new Set(judged.map(({ nodeId }) => nodeId))
  const elsewhere = nodeNamesById(tx)
    .filter(({ id }) => isMeant(id) && !known.has(id))
    .map(({ id, name }) => unfit({ nodeId: id, name, capacity: undefined }, 'in another location'))
  const others = [...judged.filter((node) => !fits(node)), ...elsewhere].sort((a, b) => (a.name < b.name ? -1 : 1))
  return [...fitting, ...others]
}

/** A node of its location that lacks its addresses alone, judged anew with other addresses. */
function readdressing(tx: Db, nodes: Nodes, server: Server) {
  const judge = judgeOf(tx, nodes, server, { newAddresses: true })
  return (node: JudgedNode): JudgedNode => {
    if (fits(node) || !node.lacksAddress) return node
    const anew = judge(node.capacity!)
    return fits(anew) || anew.obstacle !== undefined ? anew : node
  }
}
/** The location where addresses are held for it. */
const wayBack = (tx: Db, { id, locationId }: Server): string[] => {
  const held = heldOf(tx, id)
  return held && held.locationId !== locationId ? [held.locationId] : []
}
/** The nodes of the locations to which its location allows moves, and of the one that it can go back to. */
const far = (tx: Db, nodes: Nodes, server: Server, isMeant: (id: string) => boolean): JudgedNode[] =>
  [...new Set([...movesFrom(tx, server.locationId), ...wayBack(tx, server)])]
    .flatMap((locationId) => capacityIn(tx, locationId))
    .filter(({ id }) => isMeant(id))
    .map(judgeOf(tx, nodes, server, { newAddresses: true, leaves: true }))

const unfit = (
  node: Named,
  disabledReason: string,
  { lacksAddress = false, lack, breaksGroup = false, obstacle }: Partial<UnfitNode> = {},
): UnfitNode => ({ ...node, disabledReason, lacksAddress, lack, breaksGroup, obstacle })

type Back = ReturnType<typeof heldAddressesOn>
/** `leaves`: for another location. */
type HowJudged = { planned?: Planned | undefined; newAddresses?: boolean; leaves?: boolean }
function judgeOf(tx: Db, nodes: Nodes, server: Server, { planned, newAddresses = false, leaves = false }: HowJudged) {
  const storageOf = (name: string) => {
    const pool = poolSpaceOf(tx, { nodeId: server.nodeId, pool: name })
    return { storageClass: pool?.class ?? null, storage: pool?.storage ?? null }
  }
  const volumes = volumesOf(tx, server.id).map(({ id, pool, sizeGb }) => ({
    volumeId: id,
    ...storageOf(pool),
    diskGb: sizeGb,
  }))
  const hardware = isEmpty(server) ? undefined : server
  const brought = { ...storageOf(server.pool), spareDiskGb: 0, hardware, cpuModel: server.cpuModel, volumes }
  const everywhere = newAddresses ? readdressObstacle(tx, server, leaves) : undefined
  const judgeBy = (back: Back) => {
    const readdress = newAddresses ? addressNeedOf(tx, server.id, back?.addresses) : undefined
    return judgeForMove(tx, server, { ...brought, readdress }, nodes, planned)
  }
  const usually = judgeBy(undefined)
  return (capacity: NodeCapacity): JudgedNode => {
    const node = { nodeId: capacity.id, name: capacity.name, capacity }
    const obstacle = everywhere ?? (newAddresses ? unroutedFloating(tx, server.id, capacity.id) : undefined)
    if (obstacle !== undefined) return unfit(node, obstacle, { lacksAddress: true, obstacle })
    const back = newAddresses ? heldAddressesOn(tx, server.id, capacity.id) : undefined
    const there = (back ? judgeBy(back) : usually)(capacity)
    if ('disabledReason' in there)
      return unfit(node, there.disabledReason, {
        lacksAddress: !newAddresses && lackingRoute(tx, server.id, capacity.id) !== undefined,
        lack: there.lack,
        breaksGroup: there.breaksGroup === true,
      })
    if (hardware && managementAddressOf(tx, capacity.id) === undefined)
      return unfit(node, 'no address between the nodes')
    return { ...node, disabledReason: undefined, newAddresses, getsBack: back !== undefined, ...there }
  }
}
