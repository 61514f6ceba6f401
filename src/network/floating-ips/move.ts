// A floating address moves: away from one server, then to another. The node that loses it confirms that its rules let
// nobody use it before the table names the next server and its node allows it there, so that no address ever has two
// owners. The next guest has it before, when it cannot use it yet, so that the gap is as short as these two commands.
import { Type as t } from 'typebox'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { load, type Server, server, serverJob, serverKind } from '../../compute/server-records/model.ts'
import { updateServer } from '../../compute/server-records/queries.ts'
import { vmOf, volumeOf } from '../../compute/server-vm/definition.ts'
import { seedForNextStart } from '../../compute/server-vm/next-start.ts'
import { guestCidr, hasNetworkSeed } from '../../compute/server-vm/seed.ts'
import { isGoneNode } from '../../fleet/node-records/queries.ts'
import { staysOf } from '../../fleet/workloads/stays/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation, see } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { type CommandSource, saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { addressesOf } from '../ip-pools/allocate.ts'
import { isRoutedBy, pointFloating } from '../ip-pools/floating.ts'
import { vlanWords } from '../ip-pools/vlan/carried.ts'
import { vlanOfWorkload } from '../ip-pools/vlan/queries.ts'
import { addressOf, type FloatingIp, floatingIp, mustRest } from './model.ts'
import { changeFloating, floatingById } from './queries.ts'
import { floatingActions } from './states.ts'

const moved = namedSchema('FloatingIpMoved', {
  jobId: described(
    nullable(t.String()),
    'The job that moves it. While the node of the server that has it is away, the address cannot be taken from it: ' +
      'the job waits up to 15 minutes, or until staff declare the node lost. Null: it points there already.',
  ),
  floatingIpId: t.String(),
})

export const assignFloatingIp = operation({
  id: 'floating-ips.assign',
  method: 'POST',
  path: '/floating-ips/{id}/actions/assign',
  summary: 'Point a floating address to a server of its owner; another server that has it loses it first',
  past: 'Assigned a floating address',
  access: everybody('servers:settings'),
  on: floatingIp,
  body: fields({ serverId: t.String({ minLength: 1, maxLength: 40 }) }),
  response: moved,
  status: 202,
  idempotent: true,
  refuses: [...floatingActions.refusalsOf('floating_ip'), 'server_busy', 'floating_ip_busy', 'address_not_routed'],
  example: { serverId: '<server_id>' },
  run({ tx, actor, target, body, clock }) {
    const to = see(tx, actor, server, body.serverId, 'serverId')
    // An address does not leave its owner, also by staff who see all servers.
    if (to.ownerId !== target.ownerId || to.lifecycle === 'terminated')
      throw invalid({ field: 'serverId', message: `No such ${server.name}.` })
    mustRest(tx, target)
    const { address, workloadId, pool } = addressOf(tx, target)
    if (workloadId === to.id) return { jobId: null, floatingIpId: target.id }
    floatingActions.mustAllowFor(tx, actor, to, 'floating_ip')
    if (!isRoutedBy(tx, target.addressId, to.nodeId))
      throw new ApiError(
        'address_not_routed',
        `The network of ${address} does not reach the node of ${to.hostname}. Choose a server in ` +
          'its location, or ask your provider.',
      )
    if ((vlanOfWorkload(tx, to.id) ?? null) !== pool.vlan)
      throw new ApiError(
        'address_not_routed',
        `${address} is in another network than ${to.hostname}: ${vlanWords(pool.vlan)}. Choose a server whose ` +
          'addresses are in that network, or release the address and reserve another one.',
      )
    const about = serverJob(to, { by: actor, title: `Assign ${address} to ${to.hostname}`, now: clock() })
    const jobId = startJob(tx, movingFloatingIp, inputOf(tx, target, to), about)
    changeFloating(tx, target.id, { jobId })
    return { jobId, floatingIpId: target.id }
  },
})

export const unassignFloatingIp = operation({
  id: 'floating-ips.unassign',
  method: 'POST',
  path: '/floating-ips/{id}/actions/unassign',
  summary: 'Unassign a floating address; it then points to no server',
  access: everybody('servers:settings'),
  on: floatingIp,
  response: moved,
  status: 202,
  idempotent: true,
  refuses: ['floating_ip_busy'],
  run({ tx, actor, target, clock }) {
    mustRest(tx, target)
    const { address, workloadId } = addressOf(tx, target)
    if (workloadId === null) return { jobId: null, floatingIpId: target.id }
    const from = load(tx, workloadId)
    const jobId = startJob(tx, movingFloatingIp, inputOf(tx, target, null), {
      by: actor,
      title: `Unassign ${address} from ${from.hostname}`,
      // The lock of the address alone: it can be taken away whatever else happens to the server.
      holds: target.id,
      nodeId: from.nodeId,
      subject: { type: serverKind.kind, id: from.id },
      now: clock(),
    })
    changeFloating(tx, target.id, { jobId })
    return { jobId, floatingIpId: target.id }
  },
})

type Place = { serverId: string; nodeId: string } | null
type Input = { floatingIpId: string; addressId: string; address: string; from: Place; to: Place }

const placeOf = ({ id, nodeId }: Server) => ({ serverId: id, nodeId })
function inputOf(tx: Tx, target: FloatingIp, to: Server | null): Input {
  const { address, workloadId } = addressOf(tx, target)
  return {
    floatingIpId: target.id,
    addressId: target.addressId,
    address,
    from: workloadId === null ? null : placeOf(load(tx, workloadId)),
    to: to && placeOf(to),
  }
}

function plan(tx: Tx, { floatingIpId, from, to }: Input) {
  const address = addressOf(tx, floatingById(tx, floatingIpId)!)
  const next = to && load(tx, to.serverId)
  if (next && next.diskGeneration === null)
    throw new ApiError('server_failed', `Nothing is installed on ${next.hostname} any more.`)
  return {
    cidr: guestCidr(address),
    /** A node that was lost is fenced: nothing is sent to it, and it does not come back with what it had. */
    from: from && !isGoneNode(tx, from.nodeId) ? { ...from, ...cardOf(load(tx, from.serverId)) } : null,
    to: next && {
      mac: next.mac,
      os: next.os,
      hasSeed: hasNetworkSeed(next),
      vm: vmOf(tx, next, volumeOf(next, next.diskGeneration!), true),
    },
  }
}

const cardOf = ({ mac, os }: Server) => ({ mac, os })
const inGuest = (at: NonNullable<Place> & ReturnType<typeof cardOf>, what: 'add' | 'remove', cidr: string) =>
  nodeCommand(at.nodeId, 'guest.addresses', {
    workload: at.serverId,
    mac: at.mac,
    add: what === 'add' ? [cidr] : [],
    remove: what === 'remove' ? [cidr] : [],
    os: at.os,
  })
/** The network of the next server for its next start, with the address or without it. */
function bySeed(source: CommandSource, at: NonNullable<Place>, floatingIpId: string, jobId: string, isThere: boolean) {
  const address = addressOf(source.db, floatingById(source.db, floatingIpId)!)
  const others = addressesOf(source.db, at.serverId).filter(({ id }) => id !== address.id)
  const [held, name] = isThere ? [[...others, address], 'with'] : [others, 'without']
  const seed = seedForNextStart(source, load(source.db, at.serverId), `${jobId}-${name}`, held)
  return nodeCommand(at.nodeId, 'seed.write', seed)
}
/** The server that has the address is not locked: it may have moved to another node since the job was planned. */
const atHome = <At extends NonNullable<Place>>({ db }: CommandSource, at: At): At => ({
  ...at,
  nodeId: load(db, at.serverId).nodeId,
})
/** Where it arrives it may run at any moment. Where it leaves it does not run any more. */
const whereArriving = ({ db }: CommandSource, { serverId }: NonNullable<Place>): Place => {
  const arriving = staysOf(db, serverId).find(({ role }) => role === 'arriving')
  return arriving ? { serverId, nodeId: arriving.nodeId } : null
}
/** The address is given back to the server that had it, unless that was terminated meanwhile. */
const givenBack = <At extends NonNullable<Place>>({ db }: CommandSource, at: At | null): At | null =>
  at && load(db, at.serverId).lifecycle === 'terminated' ? null : at
const float = (at: Place, address: string, on: boolean) =>
  at ? nodeCommand(at.nodeId, 'firewall.float', { workload: at.serverId, addresses: [address], on }) : undefined

export const movingFloatingIp = saga<Input>('floating_ip', {
  title: 'Floating address move',
  cancelWith: 'servers:settings',
  twoNodes: true,
})
  .record('plan', 'Preparing the move', {
    do: (tx, { input }) => plan(tx, input),
    // Not before the server that had it has it again. Another job may move it by then: `movedBy` says when.
    undo: (tx, { input, jobId }) => {
      if (floatingById(tx, input.floatingIpId)?.jobId === jobId) changeFloating(tx, input.floatingIpId, { jobId: null })
    },
    undoAtOnce: false,
  })
  .command('prepare', 'Giving it to the next guest, which cannot use it yet', {
    do: ({ input: { to }, out: { plan } }) =>
      to && plan.to ? inGuest({ ...to, mac: plan.to.mac, os: plan.to.os }, 'add', plan.cidr) : undefined,
    undo: ({ input: { to }, out: { plan } }) =>
      to && plan.to ? inGuest({ ...to, mac: plan.to.mac, os: plan.to.os }, 'remove', plan.cidr) : undefined,
  })
  .command('seed', 'Writing its network for its next start', {
    do: ({ input: { to, floatingIpId }, out: { plan }, jobId }, source) =>
      to && plan.to?.hasSeed ? bySeed(source, to, floatingIpId, jobId, true) : undefined,
    undo: ({ input: { to, floatingIpId }, out: { plan }, jobId }, source) =>
      to && plan.to?.hasSeed ? bySeed(source, to, floatingIpId, jobId, false) : undefined,
  })
  .command('define', 'Attaching it', {
    do: ({ input: { to }, out: { plan } }) =>
      to && plan.to?.hasSeed ? nodeCommand(to.nodeId, 'vm.define', plan.to.vm) : undefined,
  })
  .command('clear', 'Taking it from the guest that has it', {
    do: ({ out: { plan } }, source) =>
      plan.from ? inGuest(atHome(source, plan.from), 'remove', plan.cidr) : undefined,
    undo: ({ out: { plan } }, source) => {
      const from = givenBack(source, plan.from)
      return from ? inGuest(atHome(source, from), 'add', plan.cidr) : undefined
    },
  })
  .command('off', 'Forbidding it where it was', {
    do: ({ input, out: { plan } }, source) => float(plan.from && atHome(source, plan.from), input.address, false),
    undo: ({ input, out: { plan } }, source) => {
      const from = givenBack(source, plan.from)
      return float(from && atHome(source, from), input.address, true)
    },
  })
  .record('point', 'Recording where it points', {
    do: (tx, { input: { addressId, to } }) => {
      if (to && load(tx, to.serverId).lifecycle === 'terminated')
        throw new ApiError('server_terminated', 'The server was terminated meanwhile.')
      pointFloating(tx, addressId, to?.serverId ?? null)
    },
    undo: (tx, { input: { addressId, from } }) =>
      // A server that was terminated meanwhile has given it up.
      pointFloating(tx, addressId, from && load(tx, from.serverId).lifecycle !== 'terminated' ? from.serverId : null),
    undoAtOnce: true,
  })
  // After the record: a move that begins now does not bring the address along any more.
  .command('arriving', 'Forbidding it where the server that had it arrives', {
    do: ({ input, out: { plan } }, source) =>
      float(plan.from && whereArriving(source, plan.from), input.address, false),
    undo: ({ input, out: { plan } }, source) => {
      const from = givenBack(source, plan.from)
      return float(from && whereArriving(source, from), input.address, true)
    },
  })
  .command('on', 'Allowing it there, and telling its neighbours', {
    do: ({ input }) => float(input.to, input.address, true),
    undo: ({ input }) => float(input.to, input.address, false),
  })
  .record('tell', 'Moved', {
    do: (tx, { input, out, log }) => {
      changeFloating(tx, input.floatingIpId, { jobId: null })
      if (input.to && out.plan.to?.hasSeed)
        updateServer(tx, input.to.serverId, {
          pendingSeed: out.prepare.guest === 'off' ? 'next_start' : 'next_stop',
        })
      if (input.to && out.prepare.guest !== 'applied')
        log(
          'The guest agent does not answer: add the address inside the server, or restart it in the panel.',
          'warning',
        )
    },
  })
