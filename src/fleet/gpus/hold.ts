// Holding what a GPU instance needs, in the transaction that accepts its order: two orders never get the same card.
import type { RestartPolicy } from '../../../agent/protocol/wire.ts'
import { ApiError, restarting } from '../../kernel/api/errors.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { awaitingReports, isReportNear } from '../../network/ip-pools/awaited.ts'
import type { Location } from '../locations/model.ts'
import { releaseAddressesOn } from '../node-records/gone-addresses.ts'
import { managementAddressOf } from '../node-records/queries.ts'
import { reportsSoon } from '../placement/placement.ts'
import type { WorkloadKind } from '../workloads/kind.ts'
import { insertPlaced } from '../workloads/reserve.ts'
import { startCheck } from './check.ts'
import {
  addressNeed,
  byFit,
  type GpuNeed,
  type HostCapacity,
  hostCapacitiesIn,
  judgeHosts,
  refusalOf,
} from './placement.ts'
import { cardsOf, endHold, endHoldOfCards, gpuHostOf, holdOn, portsOf } from './queries.ts'

export type { GpuNeed } from './placement.ts'

type InstanceOrder = {
  kind: WorkloadKind
  owner: { id: string; resellerId: string | null }
  location: Location
  need: GpuNeed
  /** Left out: `on_failure`. */
  restartPolicy?: RestartPolicy
  /** Left out: the prefix of its kind and its number. */
  hostname?: string | undefined
  /** Left out: the hostname. */
  name?: string | undefined
  /** May refusals name hosts and what each lacks? */
  namesNodes: boolean
}

/** An instance's share of its host. `ports` lead to it, in their order; `hostAddress` is where they are. */
export type HeldInstance = {
  id: string
  number: number
  hostname: string
  nodeId: string
  /** UUIDs. */
  cards: string[]
  ports: number[]
  ipv4: string | null
  hostAddress: string | null
}

/**
 * Chooses a host and inserts the workload with its cards, vCPUs, memory, disk, ports and address. Throws
 * `location_closed`; `restarting` when a host that fits is reconnecting and no other one fits; `no_capacity`;
 * `no_addresses` when only an address is missing; `hostname_taken`.
 */
export function reserveInstance(
  tx: Tx,
  { nodes, clock }: Pick<AppContext, 'nodes' | 'clock'>,
  { location, need, namesNodes, restartPolicy, hostname, name, ...order }: InstanceOrder,
): HeldInstance {
  const { host, reason } = placeInstance(tx, location, need, { nodes, namesNodes })
  const held = {
    vcpus: need.vcpus,
    memoryMb: need.memoryMb,
    diskGb: need.workspaceGb,
    gpus: need.cards,
    ...addressNeed(need),
    ...(restartPolicy && { restartPolicy }),
  }
  const placed = { node: host.node, pool: host.pool!, reason }
  const inserted = insertPlaced(
    tx,
    placed,
    { ...order, location, held, hostname, name, lifecycle: 'provisioning' },
    clock(),
  )
  const { id, number, ipv4 } = inserted
  return {
    ...{ id, number, hostname: inserted.hostname, nodeId: host.row.nodeId, ipv4 },
    ...holdOn(tx, host.row, id, need),
    hostAddress: hostAddressOf(tx, host.row.nodeId),
  }
}

type PlacingOptions = Pick<AppContext, 'nodes'> & Pick<InstanceOrder, 'namesNodes'>
function placeInstance(
  tx: Db,
  location: Location,
  need: GpuNeed,
  { nodes, namesNodes }: PlacingOptions,
): { host: HostCapacity; reason: string } {
  if (!location.open)
    throw new ApiError(
      'location_closed',
      `${location.name} is closed for new orders. Choose another location, or ask for it to be opened.`,
    )
  const judged = judgeHosts(tx, hostCapacitiesIn(tx, location.id), need, nodes)
  const fitting = judged.filter(({ lack }) => lack === undefined).map(({ host }) => host)
  const others = judged.flatMap(({ host, lack }) => (lack === undefined ? [] : [`${host.row.name} ${lack.words}`]))
  if (!fitting.length) {
    const { code } = refusalOf(judged, need)
    // Out of stock is an answer that shops remember; a host that comes back in a moment must not cause it.
    if (code === 'restarting')
      throw restarting(`${location.name} is reconnecting to the panel. Nothing was ordered; try again in a minute.`)
    if (code === 'no_addresses' && judged.some(({ lack }) => lack?.isAwaited))
      throw awaitingReports(location.name, isReportNear(tx, reportsSoon(tx, nodes)))
    const noCards = need.cards === 1 ? 'No free GPU' : `No host with ${need.cards} free GPUs`
    const what = code === 'no_addresses' ? 'No free IPv4 address' : noCards
    const hint = 'Choose another location, or ask your provider.'
    if (!namesNodes) throw new ApiError(code, `${what} for this offer in ${location.name} now. ${hint}`)
    const because = others.length ? others.join(', ') : 'it has no GPU container host yet'
    throw new ApiError(code, `${what} of the model ${need.model} in ${location.name}: ${because}.`)
  }
  const order = byFit(need)
  const host = fitting.reduce((best, one) => (order(one, best) < 0 ? one : best))
  const why =
    fitting.length === 1
      ? `the only one of ${count(judged.length, 'GPU host')} that fits`
      : `fewest free cards of ${count(fitting.length, 'host')}`
  return { host, reason: `${host.row.name}: ${why}${others.length ? `; ${others.join(', ')}` : ''}` }
}

/** The address at which mapped ports of a host are reached; null where neither staff nor the node name one. */
export const hostAddressOf = (tx: Db, nodeId: string): string | null =>
  gpuHostOf(tx, nodeId)?.publicAddress ?? managementAddressOf(tx, nodeId) ?? null

/** The share that an instance holds of its host now, whether it runs or not. */
export const heldOf = (tx: Db, { id, nodeId }: { id: string; nodeId: string }) => ({
  cards: cardsOf(tx, { id, nodeId }),
  ports: portsOf(tx, { id, nodeId }),
  hostAddress: hostAddressOf(tx, nodeId),
})

/** Gives back the cards of an instance that is stopped, and keeps the rest for it. */
export function releaseCards(tx: Tx, { id, nodeId }: { id: string; nodeId: string }, now: number) {
  const held = cardsOf(tx, { id, nodeId }).length > 0
  endHoldOfCards(tx, { id, nodeId })
  if (held) startCheck(tx, nodeId, now)
}

/**
 * Gives back what an instance holds. Its addresses and ports are free at once, its cards once their memory is cleared
 * and they have passed a check. Held nothing: nothing happens.
 */
export function releaseInstance(tx: Tx, { id, nodeId }: { id: string; nodeId: string }, now: number) {
  releaseAddressesOn(tx, { id, nodeId }, now)
  const held = cardsOf(tx, { id, nodeId }).length > 0
  endHold(tx, { id, nodeId })
  if (held) startCheck(tx, nodeId, now)
}
