// Placement of a new workload. A node fits when it is open and connected and has memory, a storage pool of the wanted
// class with space for the disk, and every address that is needed, of both versions, and keeps the rule of the
// placement group, where that is hard. Nodes that keep a soft one come first. Of those that are left `spread` chooses
// the one with the most free memory, `fill` the fullest, so that whole nodes stay empty; of its pools that with the
// most space, or the least. The reason is stored with the workload in words, because people ask for it months later.
import type { Hardware, SilentPart } from '../../../agent/protocol/wire.ts'
import { ApiError, restarting } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { exactMb } from '../../kernel/words.ts'
import { type AddressLack, type AddressNeed, lackingAddresses } from '../../network/ip-pools/allocate.ts'
import { awaitingReports, isReportNear } from '../../network/ip-pools/awaited.ts'
import { lackingGiven, vlanOfGiven } from '../../network/ip-pools/given.ts'
import type { Location } from '../locations/model.ts'
import { hasCpuModel, hasReported, type NodeSize, sizesIn } from '../node-records/queries.ts'
import { MANY_NODES, shared } from '../node-records/shared.ts'
import type { PoolSpace } from '../storage-pools/queries.ts'
import { type Candidates, candidatesFor, mayConnect } from './candidates.ts'
import type { NodeCapacity } from './capacity.ts'
import type { GroupRule } from './group-rule.ts'
import { refuseImage, runsOn } from './hardware.ts'
import { beyondReserveMb, reserveMbOf } from './location-reserve.ts'
import { lackAddressesMostly, lackOf, type ShortageReason, shortageReasons } from './main-cause.ts'

/**
 * `storageClass`: null for a pool of any. `hardware` is the machine of the image; without an image every node will do.
 */
export type Need = {
  memoryMb: number
  diskGb: number
  storageClass: string | null
  hardware?: Hardware | undefined
  /** Addresses that it brings along, beside those that it needs. */
  given?: readonly string[]
  /** The CPU model that its vm has; null: that of any node. */
  cpuModel?: string | null | undefined
  /** Of the placement group that it is in. */
  group?: GroupRule | undefined
} & AddressNeed
export type Placed = { node: NodeCapacity; pool: PoolSpace; reason: string }

export const RECONNECTING = 'is reconnecting'
const WRONG_HARDWARE = 'cannot run this image'

export type LackingAddress = (nodeId: string) => AddressLack | undefined
type Judged = {
  node: NodeCapacity
  disabledReason: string | undefined
  shortage?: ShortageReason
  addressLack?: AddressLack
  /** The rule of its group alone is in the way. */
  breaksGroup?: true
}

/** Judges nodes. `disabledReason`: why one cannot take it, as a text; undefined when it can. */
export function judgeBy(tx: Db, need: Need, nodes: Nodes, lackingAddress: LackingAddress) {
  return (node: NodeCapacity): Judged => {
    if (need.cpuModel && !hasCpuModel(tx, node.id, need.cpuModel))
      return { node, disabledReason: `cannot run the CPU model ${need.cpuModel}` }
    if (need.hardware && !runsOn(tx, node.id, need.hardware)) return { node, disabledReason: WRONG_HARDWARE }
    const shortage = shortageOn(node, need, nodes)
    if (shortage !== undefined) return { node, disabledReason: inWords(shortage, need), shortage }
    const lacking = lackingAddress(node.id)
    if (lacking) return { node, disabledReason: lacking.words, addressLack: lacking }
    const broken = need.group?.hard ? need.group.brokenBy(node.id) : undefined
    if (broken !== undefined) return { node, disabledReason: broken, breaksGroup: true }
    return { node, disabledReason: nodes.connected(node.id) ? undefined : RECONNECTING }
  }
}

function inWords(reason: ShortageReason, { storageClass }: Need): string {
  if (storageClass === null) return shortageReasons[reason]
  if (reason === 'storage_class') return `no ${storageClass} storage`
  return reason === 'disk' ? `no ${storageClass} disk left` : shortageReasons[reason]
}

type NeededSpace = Pick<Need, 'memoryMb' | 'diskGb' | 'storageClass'>

/** Undefined: the node has capacity, and is connected or will be in a moment. */
export const shortageOn = (node: NodeCapacity, need: NeededSpace, nodes: Nodes): ShortageReason | undefined =>
  contactShortageOn(node, nodes) ?? spaceShortageOn(node, need)

/** The part of `shortageOn` that is the same for every need. */
export function contactShortageOn(node: NodeCapacity, nodes: Nodes): ShortageReason | undefined {
  if (!node.open) return 'closed'
  if (!mayConnect(nodes, node.id)) return 'disconnected'
  return isSilent(nodes, node.id, 'hypervisor') ? 'hypervisor_silent' : undefined
}
/** The other part: memory and storage. */
export function spaceShortageOn(node: NodeCapacity, need: NeededSpace): ShortageReason | undefined {
  if (node.memoryMb - node.heldMemoryMb < need.memoryMb) return 'memory'
  const pools = poolsFor(node, need)
  if (!pools.length && need.storageClass !== null) return 'storage_class'
  if (!pools.some((pool) => pool.freeDiskGb >= need.diskGb))
    return pools.some((pool) => pool.isSilent) ? 'storage_silent' : 'disk'
  return undefined
}

/** The pools of a node that may take the disk of a new workload, full ones too. */
export const poolsFor = ({ pools }: NodeCapacity, { storageClass }: Pick<Need, 'storageClass'>): PoolSpace[] =>
  pools.filter((pool) => pool.open && (storageClass === null || pool.class === storageClass))

/** The pool of a node that takes the disk: `spread` the one with the most space, `fill` the one with the least. */
function poolOf({ placement }: Pick<Location, 'placement'>, node: NodeCapacity, need: NeededSpace): PoolSpace {
  const sign = placement === 'spread' ? -1 : 1
  return poolsFor(node, need)
    .filter((pool) => pool.freeDiskGb >= need.diskGb)
    .reduce((best, pool) => (sign * (pool.freeDiskGb - best.freeDiskGb) < 0 ? pool : best))
}

export type Nodes = Pick<AppContext['nodes'], 'connected' | 'isReconnecting' | 'heartbeat'>

/** The last heartbeat of the node said that this part of it does not answer. */
export const isSilent = (nodes: Nodes, nodeId: string, part: SilentPart): boolean =>
  nodes.heartbeat(nodeId)?.silent?.some((silence) => silence.part === part) ?? false

/** Answers of a node whether it is about to say what is on it. */
export const reportsSoon =
  (tx: Db, nodes: Nodes) =>
  (nodeId: string): boolean =>
    nodes.isReconnecting(nodeId) || (nodes.connected(nodeId) && !hasReported(tx, nodeId))

/** Ends the refusal with this code. */
export const remedies = {
  no_capacity: '',
  no_addresses: ' Add a pool, or attach one to a node with room.',
  address_in_use: ' Free it there, or choose another address.',
} as const

/**
 * That no node fits is known of each order. Why is judged of every node (19 µs each): in a large location once for all
 * who ask for the same within two seconds.
 */
const refusals = shared<{ error: ApiError; nodes: number }>(({ nodes }) => nodes > MANY_NODES)

type PlacementOptions = {
  nodes: Nodes
  /** A node that staff asked for by name. */
  wantedId?: string | null | undefined
  /** Staff said that it may use the reserve of the location. */
  usesReserve?: boolean | undefined
  /** True for staff: refusals name nodes and what each lacks. */
  namesNodes: boolean
  /** In place of what the nodes have now: the rest that a plan of many servers has left of it. */
  planned?: { capacities: NodeCapacity[]; lackingAddress: LackingAddress }
}

/**
 * Chooses the node. Throws `location_closed`; `image_not_supported` when no node there can run it; `restarting` when a
 * node that fits is reconnecting and no other one fits, or one that must tell first which addresses are free;
 * `no_capacity`; `no_addresses` when addresses are what most nodes lack, or are not known to be free; `address_in_use`
 * when something else has one that is given; `placement_group_unmet` when the rule of its group alone is in the way.
 */
export function placeIn(
  tx: Db,
  location: Location,
  need: Need,
  { nodes, wantedId, usesReserve, namesNodes, planned }: PlacementOptions,
): Placed {
  if (!location.open)
    throw new ApiError(
      'location_closed',
      `${location.name} is closed for new servers. Choose another location, or ask for it to be opened.`,
    )
  const lackingAddress = planned?.lackingAddress ?? lackingNow(tx, need)
  const judge = judgeBy(tx, need, nodes, lackingAddress)
  const candidates = candidatesFor(tx, location, need, { nodes, wantedId, planned: planned?.capacities })
  const { node, passedOver } = choiceOf(candidates, judge, need.group)
  if (!node) {
    const judged = () => {
      const all = candidates.every().map(judge)
      return { error: refusal(tx, location, need, { judged: all, nodes, wantedId, namesNodes }), nodes: all.length }
    }
    // The rule of a group, and the rest that a plan has left, are this call's own.
    if (need.group || planned) throw judged().error
    const key = JSON.stringify([need, wantedId ?? null, namesNodes])
    throw refusals(tx, { place: location.id, key }, judged).error
  }
  if (!usesReserve && location.reserve !== 0) {
    const all = planned?.capacities ?? sizesIn(tx, location.id)
    if (beyondReserveMb(location, all, nodes) < need.memoryMb)
      throw new ApiError(
        'no_capacity',
        namesNodes ? reservedWords(location, all, nodes) : noRoomIn('No room', location.name),
      )
  }
  const pool = poolOf(location, node, need)
  const why = wantedId ? 'chosen by staff' : `${location.placement === 'spread' ? 'most' : 'least'} free memory`
  const where = node.pools.length > 1 ? `${node.name}, pool ${pool.name}` : node.name
  const broken = need.group?.brokenBy(node.id)
  const preferred = need.group && (broken ? `; it ${broken}, which is soft` : `; the group ${need.group.name} is kept`)
  const before = passedOver.length ? `; before it ${listed(passedOver)}` : ''
  return { node, pool, reason: `${where}: ${why}${preferred ?? ''}${before}` }
}

type Choice = { node: NodeCapacity | undefined; passedOver: readonly Judged[] }
function choiceOf({ inOrder, among }: Candidates, judge: (node: NodeCapacity) => Judged, group?: GroupRule): Choice {
  if (!group?.nodeIds) return firstFitting(inOrder(), judge, group)
  const together = firstFitting(among(group.nodeIds), judge)
  return together.node || group.hard ? together : firstFitting(inOrder(), judge)
}
/** The first that fits and keeps the rule of the group; else the first that fits, where that rule is soft. */
function firstFitting(
  inOrder: Iterable<NodeCapacity>,
  judge: (node: NodeCapacity) => Judged,
  group?: GroupRule,
): Choice {
  const passedOver: Judged[] = []
  let second: Choice | undefined
  for (const node of inOrder) {
    const judged = judge(node)
    if (judged.disabledReason !== undefined) passedOver.push(judged)
    else if (group?.brokenBy(node.id) === undefined) return { node, passedOver }
    else second ??= { node, passedOver: [...passedOver] }
  }
  return second ?? { node: undefined, passedOver }
}

/** Nodes that are named with their reason; the others are counted. */
const MOST_NAMED = 20
function listed(judged: readonly Judged[]): string {
  const more = judged.length - MOST_NAMED
  const named = judged.slice(0, MOST_NAMED).map(({ node, disabledReason }) => `${node.name} ${disabledReason}`)
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

type Refused = Pick<PlacementOptions, 'nodes' | 'wantedId' | 'namesNodes'> & { judged: readonly Judged[] }
/** The refusal where none of these nodes fits. */
function refusal(tx: Db, location: Location, need: Need, { judged, nodes, wantedId, namesNodes }: Refused): ApiError {
  if (need.hardware && cannotRun(judged))
    refuseImage(wantedId ? `${judged[0]!.node.name} cannot` : `No node in ${location.name} can`, need.hardware)
  // Out of stock is an answer that shops remember; a node that comes back in a moment must not cause it.
  if (judged.some((j) => j.disabledReason === RECONNECTING))
    return restarting(`${location.name} is reconnecting to the panel. Nothing was ordered; try again in a minute.`)
  if (judged.some(({ addressLack }) => addressLack?.isAwaited))
    return awaitingReports(location.name, isReportNear(tx, reportsSoon(tx, nodes)))
  if (need.group && judged.some(({ breaksGroup }) => breaksGroup))
    return new ApiError('placement_group_unmet', unmetIn(location, need.group, namesNodes ? judged : []))
  return mainRefusal(location, need, judged, { wantedId, namesNodes })
}

/** The main cause is the code and the headline; what each node lacks follows for staff. */
function mainRefusal(
  { name }: Location,
  { given }: Need,
  judged: readonly Judged[],
  { wantedId, namesNodes }: Pick<PlacementOptions, 'wantedId' | 'namesNodes'>,
): ApiError {
  const lacks = judged.map(lackOf)
  const withoutAddress = lackAddressesMostly(lacks) ? judged.filter(({ addressLack }) => addressLack) : []
  const taken = withoutAddress.find(({ addressLack }) => addressLack!.isTaken)
  const [first] = taken ? [taken] : withoutAddress
  const lacking = first && capital(first.disabledReason!)
  const code = taken ? 'address_in_use' : lacking ? 'no_addresses' : 'no_capacity'
  // The words about an address that is brought along name who has it.
  if (!namesNodes && lacking && given)
    return new ApiError(code, `The addresses that it brings along are not free in ${name}.`)
  if (!namesNodes) return new ApiError(code, noRoomIn(lacking ?? 'No room', name))
  const headline = lacking
    ? `${lacking} in ${name}`
    : wantedId
      ? 'The chosen node cannot take it'
      : `No node in ${name} ${lacks.includes('capacity') || !judged.length ? 'has room' : 'can take it'}`
  return new ApiError(code, `${headline}: ${listed(judged) || 'it has no node yet'}.${remedies[code]}`)
}

function lackingNow(tx: Db, need: Need): LackingAddress {
  const { given = [] } = need
  if (!given.length) return lackingAddresses(tx, need)
  return (id) => lackingGiven(tx, id, given) ?? lackingAddresses(tx, { ...need, vlan: vlanOfGiven(tx, id, given) })(id)
}

const capital = (words: string) => words[0]!.toUpperCase() + words.slice(1)
/** Words for customers. */
const noRoomIn = (lacks: string, name: string) =>
  `${lacks} in ${name} for this package now. Choose another location, or ask your provider.`
function reservedWords(
  location: Location,
  all: readonly Pick<NodeSize, 'id' | 'open' | 'memoryMb' | 'heldMemoryMb'>[],
  nodes: Nodes,
) {
  const [reserveMb, leftMb] = [reserveMbOf(location, all, nodes), beyondReserveMb(location, all, nodes)]
  return (
    `${location.name} keeps ${exactMb(reserveMb)} of memory in reserve, and ${exactMb(Math.max(0, leftMb))} are free ` +
    'beyond it. Choose another location, or order with useReserve.'
  )
}

/** Words for everybody who sees the group; `because` names nodes. */
const unmetIn = ({ name }: Location, group: GroupRule, because: readonly Judged[]) =>
  `No node in ${name} that has room keeps the rule of the group ${group.name}${
    because.length ? `: ${listed(because)}` : ''
  }. Choose another location, or make the rule soft.`

/** Can none of them run the image? More space on these nodes would not help. */
const cannotRun = (judged: readonly Judged[]) =>
  judged.length > 0 && judged.every((j) => j.disabledReason === WRONG_HARDWARE)
