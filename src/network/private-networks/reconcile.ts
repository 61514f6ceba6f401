// The state of each network on each node is worked out anew from the tables, and sent where it differs from what the
// node has confirmed. So a change needs no message of its own: a server that comes or goes, a node with another
// address, a termination or another owner is found within a minute.
import { nodeCommand, type PrivateNetwork } from '../../../agent/protocol/wire.ts'
import { lockOfServer, type Server } from '../../compute/servers/model.ts'
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
  everyMember,
  everythingTold,
  hasMembers,
  membersOf,
  networkById,
  noteTold,
  noteWaiting,
  type Present,
  toldOf,
} from '../private-network-records/queries.ts'
import { tapOf, vniOf } from './model.ts'

type Input = { networkId: string; nodeId: string }

/** The network as the node should know it; null: not at all. */
function specOf(tx: Db, { networkId, nodeId }: Input, members: readonly Present[]): PrivateNetwork | null {
  const network = networkById(tx, networkId)
  const local = managementAddressOf(tx, nodeId)
  if (!network || !local || isGoneNode(tx, nodeId) || !members.some((member) => member.nodeId === nodeId)) return null
  const bits = toNetwork(network.ipv4)!.bits
  const others = [...Map.groupBy(members, (member) => member.nodeId)].filter(([id]) => id !== nodeId)
  return {
    network: networkId,
    vni: vniOf(network),
    local,
    peers: others.flatMap(([id, there]) => {
      const address = isGoneNode(tx, id) ? undefined : managementAddressOf(tx, id)
      return address ? [{ address, macs: there.map(({ number }) => macOf(number)) }] : []
    }),
    ports: members
      .filter((member) => member.nodeId === nodeId)
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
const lockOf = ({ networkId, nodeId }: Input) => `${networkId} ${nodeId}`

export const spreading = forwardSaga<Input>('private_network')
  .record('plan', 'Working out who takes part', {
    do: (tx, { input }) => ({ spec: specOf(tx, input, membersOf(tx, input.networkId)) }),
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
      const { spec } = out.plan
      noteTold(tx, networkId, nodeId, spec && digestOf(spec))
      const waiting = out.set?.waiting ?? []
      if (spec)
        noteWaiting(
          tx,
          networkId,
          spec.ports.map(({ workload }) => workload),
          waiting,
        )
      if (waiting.length) log('Servers that could not take the card while they run get it at their next start.')
    },
  })

type About = Pick<NewJob, 'by' | 'title' | 'now'>

/**
 * Tells every node whose knowledge of the network differs. Returns the job on the node of `changed`, which supersedes
 * an earlier one; null where that node knows it already.
 */
export function spread(tx: Tx, networkId: string, changed: Server, about: About): string | null {
  let own: string | null = null
  for (const input of differing(tx, [networkId], membersOf(tx, networkId), toldOf(tx, networkId))) {
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
    const members = everyMember(tx)
    const ids = new Set([...members, ...told].map(({ networkId }) => networkId))
    for (const input of differing(tx, [...ids], members, told))
      if (!isHeldByJob(tx, lockOf(input))) tellNode(tx, input, { by: system, title: titleOf(tx, input), now }, null)
  })
}

const titleOf = (tx: Db, { networkId }: Input) => `Spread the private network ${networkById(tx, networkId)?.name ?? ''}`

/** The nodes that should know another state of these networks than they were told. */
function differing(
  tx: Tx,
  networkIds: readonly string[],
  members: readonly Present[],
  told: readonly { networkId: string; nodeId: string; told: string }[],
): Input[] {
  const membersBy = Map.groupBy(members, (member) => member.networkId)
  const toldBy = Map.groupBy(told, (one) => one.networkId)
  return networkIds.flatMap((networkId) => {
    const here = membersBy.get(networkId) ?? []
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
    holds: lockOf(input),
    ...(serverId && { subject: lockOfServer(serverId).subject }),
    supersedes: true,
  })
