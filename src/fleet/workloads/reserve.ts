// Reserving node, resources, number, hostname and addresses for a new workload of any kind, in the transaction that
// accepts the order: two orders never get the same.
import { randomBytes } from 'node:crypto'
import type { Hardware, RestartPolicy } from '../../../agent/protocol/wire.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { type IdPrefix, newId } from '../../kernel/db/ids.ts'
import { isUniqueViolation, type Tx } from '../../kernel/db/open.ts'
import { chooseVlan, takeIpv4, takeIpv6 } from '../../network/ip-pools/allocate.ts'
import { takeGiven } from '../../network/ip-pools/given.ts'
import { vlanOfWorkload } from '../../network/ip-pools/vlan/queries.ts'
import type { Location } from '../locations/model.ts'
import type { NodeCapacity } from '../placement/capacity.ts'
import { type Placed, placeIn } from '../placement/placement.ts'
import { joinGroup, type PlacementGroup } from '../placement-group-records/queries.ts'
import type { PoolSpace } from '../storage-pools/queries.ts'
import type { WorkloadKind } from './kind.ts'
import { insertWorkload, nextNumber } from './queries.ts'
import { ruleOf } from './stays/group-rule.ts'
import { staysOf } from './stays/queries.ts'
import { openHome } from './stays/stays.ts'
import type { Lifecycle } from './tables.ts'

/** Resources of a workload. `ipv4` is a number of addresses, `ipv6Prefix` the length of one prefix. */
export type Held = {
  vcpus: number
  memoryMb: number
  diskGb: number
  /** Left out: a pool of any class. */
  storageClass?: string | null
  gpus?: number
  ipv4: number
  ipv6Prefix: number | null
  /** Null: it cannot be in a VLAN; left out: any will do that has its addresses. */
  vlan?: null
  /** Left out: `on_failure`. */
  restartPolicy?: RestartPolicy
}

/**
 * A MAC address and addresses that a workload keeps, as an import wants it; what is left out is invented. `addresses`:
 * IPv4 addresses and IPv6 prefixes with their length, the primary one of each version first.
 */
export type Identity = { mac?: string; addresses?: readonly string[] }

type Reservation = {
  kind: WorkloadKind
  /** Its id, where that is known before; left out: it gets one. */
  id?: string | undefined
  owner: { id: string; resellerId: string | null }
  location: Location
  held: Held
  /** The machine of its image; undefined without one. */
  hardware?: Hardware | undefined
  /** Left out: the word of its kind and its number, such as `server7`. */
  hostname: string | undefined
  /** Left out: the hostname. */
  name: string | undefined
  lifecycle: Extract<Lifecycle, 'pending_setup' | 'provisioning'>
  /** A node that staff asked for by name. */
  nodeId?: string | null | undefined
  identity?: Identity
  /** The placement group that it joins. */
  group?: PlacementGroup | undefined
  /** May refusals name nodes and what each lacks? */
  namesNodes: boolean
  /** It may use the reserve of the location. */
  usesReserve?: boolean | undefined
}
export type Reserved = {
  id: string
  number: number
  hostname: string
  node: NodeCapacity
  pool: PoolSpace
  ipv4: string | null
}

/**
 * Throws `location_closed`, `image_not_supported`, `restarting`, `no_capacity`, `no_addresses` or `hostname_taken`; for
 * an identity that is given also `validation_failed` and `address_in_use`; for a group `placement_group_unmet`.
 */
export function reserve(
  tx: Tx,
  { nodes, clock }: Pick<AppContext, 'nodes' | 'clock'>,
  { location, held, hardware, nodeId, namesNodes, usesReserve, group, ...order }: Reservation,
): Reserved {
  const given = order.identity?.addresses ?? []
  const need = {
    ...held,
    ...invented(held, given),
    storageClass: held.storageClass ?? null,
    hardware,
    cpuModel: location.cpuModel,
    given,
    group: group && ruleOf(tx, group),
  }
  const placed = placeIn(tx, location, need, { nodes, wantedId: nodeId, usesReserve, namesNodes })
  const now = clock()
  const reserved = insertPlaced(tx, placed, { ...order, location, held }, now)
  if (group) joinGroup(tx, { workloadId: reserved.id, groupId: group.id, createdAt: now })
  return reserved
}

/** Inserts the workload on the node that was chosen for it, with its addresses. Throws as `reserve` for these two. */
export function insertPlaced(
  tx: Tx,
  { node, pool, reason }: Placed,
  {
    kind,
    owner,
    location,
    held,
    identity = {},
    ...given
  }: Omit<Reservation, 'hardware' | 'nodeId' | 'namesNodes' | 'usesReserve' | 'group'>,
  now: number,
): Reserved {
  const id = given.id ?? newId(kind.idPrefix as IdPrefix)
  const number = nextNumber(tx)
  const size = { vcpus: held.vcpus, memoryMb: held.memoryMb, diskGb: held.diskGb }
  const mac = identity.mac === undefined ? newMac() : checkedMac(identity.mac)
  const hostname = given.hostname ?? `${kind.hostnamePrefix ?? kind.words.one}${number}`
  try {
    insertWorkload(tx, {
      id,
      kind: kind.kind,
      number,
      ownerId: owner.id,
      resellerId: owner.resellerId,
      nodeId: node.id,
      locationId: location.id,
      pool: pool.name,
      hostname,
      name: given.name ?? hostname,
      ...size,
      gpus: held.gpus ?? 0,
      mac,
      heldMac: mac,
      placement: reason,
      ...(held.restartPolicy && { restartPolicy: held.restartPolicy }),
      lifecycle: given.lifecycle,
      createdAt: now,
    })
  } catch (error) {
    if (identity.mac !== undefined && isUniqueViolation(error, 'workloads.held_mac'))
      throw invalid({ field: 'mac', message: `${identity.mac} is the MAC address of another server.` })
    return refuseHostnameTaken(error)
  }
  openHome(tx, { id, nodeId: node.id, pool: pool.name, ...size }, now)
  const { addresses = [] } = identity
  const need = invented(held, addresses)
  if (addresses.length) {
    const nodeIds = staysOf(tx, id).map(({ nodeId }) => nodeId)
    takeGiven(tx, id, nodeIds, addresses)
  }
  const before = vlanOfWorkload(tx, id)
  const vlan = chooseVlan(tx, node.id, { ...need, vlan: before === undefined ? held.vlan : before })
  const at = { nodeId: node.id, vlan }
  const [first = null] = takeIpv4(tx, id, at, need.ipv4, !addresses.some(isIpv4))
  if (need.ipv6Prefix) takeIpv6(tx, id, at, need.ipv6Prefix)
  return { id, number, hostname, node, pool, ipv4: addresses.find(isIpv4) ?? first }
}

const isIpv4 = (address: string) => !address.includes(':')
/** The addresses that are needed beside those that are given. */
const invented = ({ ipv4, ipv6Prefix }: Held, given: readonly string[]) => ({
  ipv4: Math.max(0, ipv4 - given.filter(isIpv4).length),
  ipv6Prefix: given.every(isIpv4) ? ipv6Prefix : null,
})

/** In one spelling, so that the unique index finds it. Throws `validation_failed` where no card of a server has it. */
function checkedMac(given: string): string {
  const mac = given.toLowerCase().replaceAll('-', ':')
  const isOne = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(mac)
  const isOfMany = (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1
  if (!isOne || isOfMany || mac === '00:00:00:00:00:00')
    throw invalid({
      field: 'mac',
      message: `${given} is no MAC address of one network card, such as 52:54:00:ab:cd:ef.`,
    })
  return mac
}

export const hostnameTaken = () =>
  new ApiError('hostname_taken', 'Another server of this customer has this hostname. Choose another hostname.')
/** Throws `hostname_taken` for a violation of the index on hostnames, and any other error as it is. */
export function refuseHostnameTaken(error: unknown): never {
  throw isUniqueViolation(error, 'workloads.hostname') ? hostnameTaken() : error
}

/** Locally administered (02), with 40 random bits: the unique index refuses the one that is taken. */
const newMac = () => `02${randomBytes(5).toString('hex').replace(/../g, ':$&')}`
