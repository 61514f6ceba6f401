// The state of each network on each node is worked out anew from the tables, and sent where it differs from what the
// node has confirmed. So a change needs no message of its own: a server that comes or goes, a node with another
// address, a termination or another owner is found within a minute.
import { nodeCommand, type PrivateNetwork } from '../../../agent/protocol/wire.ts'
import { lockOfServer, type Server } from '../../compute/server-records/model.ts'
import { isGoneNode, managementAddressOf } from '../../fleet/node-records/queries.ts'
import { system } from '../../kernel/api/actor.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { forwardSaga } from '../../kernel/jobs/saga.ts'
import { type NewJob, startJob } from '../../kernel/jobs/start.ts'
import { toNetwork } from '../ip-pools/ranges.ts'
import { macOf } from '../private-network-records/model.ts'
import {
  dropGone,
  everyPort,
  everythingTold,
  hasMembers,
  networkById,
  noteTold,
  noteWaiting,
  type Port,
  portsOf,
  toldOf,
} from '../private-network-records/queries.ts'
import { tapOf, vniOf } from './model.ts'

type Input = { networkId: string; nodeId: string }

/** The network as the node should know it; null: not at all. */
function specOf(tx: Db, { networkId, nodeId }: Input, stays: readonly Port[]): PrivateNetwork | null {
  const network = networkById(tx, networkId)
  const local = managementAddressOf(tx, nodeId)
  if (!network || !local || isGoneNode(tx, nodeId) || !stays.some((port) => port.nodeId === nodeId)) return null
  const bits = toNetwork(network.ipv4)!.bits
  const others = [...Map.groupBy(stays, (port) => port.nodeId)].filter(([id]) => id !== nodeId)
  return {
    network: networkId,
    vni: vniOf(network),
    local,
    peers: others.flatMap(([id, there]) => {
      const address = isGoneNode(tx, id) ? undefined : managementAddressOf(tx, id)
      // A node where a server arrives hears what is for all, and what is for the server goes to its home.
      const macs = there.filter(({ isHome }) => isHome).map(({ number }) => macOf(number))
      return address ? [{ address, macs }] : []
    }),
    ports: stays
      .filter((port) => port.nodeId === nodeId)
      .map(({ workloadId, number, ipv4, ipv6 }) => ({
        workload: workloadId,
        tap: tapOf(number),
        mac: macOf(number),
        addresses: [`${ipv4}/${bits}`, ...(ipv6 ? [`${ipv6}/64`] : [])],
      })),
  }
}

const digestOf = (spec: PrivateNetwork) => new Bun.CryptoHasher('sha256').update(JSON.stringify(spec)).digest('hex')
/** One job at a time tells a node of a network. */
export const spreadLock = ({ networkId, nodeId }: Input) => `${networkId} ${nodeId}`

export const spreading = forwardSaga<Input>('private_network', { title: 'Private network update' })
  .record('plan', 'Working out who takes part', {
    do: (tx, { input }) => {
      const stays = portsOf(tx, input.networkId)
      const atHome = stays.filter(({ nodeId, isHome }) => isHome && nodeId === input.nodeId)
      return { spec: specOf(tx, input, stays), atHome: atHome.map(({ workloadId }) => workloadId) }
    },
  })
  .command('set', 'Setting up the network', {
    do: ({ input, out }) => (out.plan.spec ? nodeCommand(input.nodeId, 'network.set', out.plan.spec) : undefined),
  })
  .command('remove', 'Removing the network', {
    do: ({ input, out }) =>
      out.plan.spec ? undefined : nodeCommand(input.nodeId, 'network.remove', { network: input.networkId }),
  })
  .record('note', 'Recording it', {
    do(tx, { input: { networkId, nodeId }, out, log }) {
      const { spec, atHome } = out.plan
      noteTold(tx, networkId, nodeId, spec && digestOf(spec))
      const waiting = out.set?.waiting ?? []
      // Where a server arrives or leaves, nothing is running that could take a card.
      if (spec) noteWaiting(tx, networkId, atHome, waiting)
      if (waiting.some((id) => atHome.includes(id)))
        log('Servers that could not take the card while they run get it at their next start.')
    },
  })

type About = Pick<NewJob, 'by' | 'title' | 'now'>

/**
 * Tells every node whose knowledge of the network differs. Returns the job on the node of `changed`, which supersedes
 * an earlier one; null where that node knows it already.
 */
export function spread(tx: Tx, networkId: string, changed: Server, about: About): string | null {
  let own: string | null = null
  for (const input of differing(tx, [networkId], portsOf(tx, networkId), toldOf(tx, networkId))) {
    const isOwn = input.nodeId === changed.nodeId
    const jobId = tellNode(
      tx,
      input,
      isOwn ? about : { ...about, title: titleOf(tx, input) },
      isOwn ? changed.id : null,
    )
    if (isOwn) own = jobId
  }
  return own
}

/** One turn over all networks. Nodes that a job is telling are left to it. */
export function spreadAll(db: Db, now: number) {
  const told = everythingTold(db)
  if (!told.length && !hasMembers(db)) return
  write(db, (tx) => {
    dropGone(tx)
    const ports = everyPort(tx)
    const ids = new Set([...ports, ...told].map(({ networkId }) => networkId))
    for (const input of differing(tx, [...ids], ports, told))
      if (!isHeldByJob(tx, spreadLock(input))) tellNode(tx, input, { by: system, title: titleOf(tx, input), now }, null)
  })
}

const titleOf = (tx: Db, { networkId }: Input) =>
  `Set up ${networkById(tx, networkId)?.name ?? 'a private network'} on its nodes`

/** The nodes that should know another state of these networks than they were told. */
function differing(
  tx: Tx,
  networkIds: readonly string[],
  ports: readonly Port[],
  told: readonly { networkId: string; nodeId: string; told: string }[],
): Input[] {
  const portsBy = Map.groupBy(ports, (port) => port.networkId)
  const toldBy = Map.groupBy(told, (one) => one.networkId)
  return networkIds.flatMap((networkId) => {
    const here = portsBy.get(networkId) ?? []
    const known = new Map((toldBy.get(networkId) ?? []).map((one) => [one.nodeId, one.told]))
    const nodeIds = new Set([...here.map(({ nodeId }) => nodeId), ...known.keys()])
    return [...nodeIds].flatMap((nodeId) => {
      const input = { networkId, nodeId }
      const spec = specOf(tx, input, here)
      if ((spec ? digestOf(spec) : undefined) === known.get(nodeId)) return []
      if (!isGoneNode(tx, nodeId)) return [input]
      // Nothing is sent to a node that is gone.
      if (known.has(nodeId)) noteTold(tx, networkId, nodeId, null)
      return []
    })
  })
}

const tellNode = (tx: Tx, input: Input, about: About, serverId: string | null) =>
  startJob(tx, spreading, input, {
    ...about,
    nodeId: input.nodeId,
    holds: spreadLock(input),
    ...(serverId && { subject: lockOfServer(serverId).subject }),
    supersedes: true,
  })
