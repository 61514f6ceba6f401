// One address more or less, on the node and inside the guest. The node allows an address before the guest has it, and
// forbids it after the guest has given it up, so that no packet of the guest is lost in between. The address is free
// for others only when the node has forbidden it.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { inEvent, load, type Server, serverJob } from '../../compute/server-records/model.ts'
import { updateServer } from '../../compute/server-records/queries.ts'
import { portRulesOf, vmOf, volumeOf } from '../../compute/server-vm/definition.ts'
import { withPrivateCards } from '../../compute/server-vm/private-cards.ts'
import { guestCidr, hasNetworkSeed, networkSeed } from '../../compute/server-vm/seed.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { addressesOf, type HeldAddress, releaseAddress } from '../ip-pools/allocate.ts'

type What = 'add' | 'remove'
type Input = { serverId: string; nodeId: string; addressId: string; address: string; what: What }

/** Starts the job, after the address was taken from its pool; null where nothing is installed, and all is done. */
export function startChange(
  tx: Tx,
  target: Server,
  { id: addressId, address }: HeldAddress,
  what: What,
  { by, now }: { by: Actor; now: number },
): string | null {
  if (target.lifecycle === 'pending_setup') {
    if (what === 'remove') releaseAddress(tx, target.id, addressId)
    tell(tx, now, target.id, address, what)
    return null
  }
  const title = what === 'add' ? `Add ${address} to ${target.hostname}` : `Remove ${address} from ${target.hostname}`
  const input = { serverId: target.id, nodeId: target.nodeId, addressId, address, what }
  return startJob(tx, changingAddresses, input, serverJob(target, { by, title, now }))
}

function tell(tx: Tx, now: number, serverId: string, address: string, what: What) {
  const { concerning, data } = inEvent(tx, load(tx, serverId))
  const change = what === 'add' ? { added: [address], removed: [] } : { added: [], removed: [address] }
  emit(tx, now, 'server.addresses_changed', concerning, { ...data, ...change })
}

function plan(tx: Tx, { serverId, addressId, what }: Input, jobId: string) {
  const target = load(tx, serverId)
  const withIt = addressesOf(tx, serverId)
  const without = withIt.filter(({ id }) => id !== addressId)
  const side = (held: HeldAddress[], name: string) => ({
    rules: portRulesOf(target, held),
    seed: hasNetworkSeed(target) ? withPrivateCards(tx, networkSeed(target, held, `${jobId}-${name}`)) : null,
  })
  const [present, absent] = [side(withIt, 'with'), side(without, 'without')]
  return {
    before: what === 'add' ? absent : present,
    after: what === 'add' ? present : absent,
    cidr: withIt.filter(({ id }) => id === addressId).map(guestCidr),
    mac: target.mac,
    os: target.os,
    vm: vmOf(tx, target, volumeOf(target, target.diskGeneration!), true),
  }
}

const inGuest = ({ serverId: workload, nodeId }: Input, { cidr, mac, os }: ReturnType<typeof plan>, what: What) =>
  nodeCommand(nodeId, 'guest.addresses', {
    workload,
    mac,
    add: what === 'add' ? cidr : [],
    remove: what === 'remove' ? cidr : [],
    os,
  })
const bySeed = ({ nodeId }: Input, { seed }: ReturnType<typeof plan>['after']) =>
  seed ? nodeCommand(nodeId, 'seed.write', seed) : undefined
const opposite = (what: What): What => (what === 'add' ? 'remove' : 'add')

export const changingAddresses = saga<Input>('addresses', { cancelWith: 'servers:resize' })
  .record('plan', 'Preparing its network', {
    do: (tx, { input, jobId }) => plan(tx, input, jobId),
    undo: (tx, { input }) => {
      if (input.what === 'add') releaseAddress(tx, input.serverId, input.addressId)
    },
  })
  .command('allow', 'Allowing the address', {
    do: ({ input, out }) =>
      input.what === 'add' ? nodeCommand(input.nodeId, 'firewall.allow', out.plan.after.rules) : undefined,
    undo: ({ input, out }) =>
      input.what === 'add' ? nodeCommand(input.nodeId, 'firewall.allow', out.plan.before.rules) : undefined,
  })
  .command('guest', 'Telling the guest', {
    do: ({ input, out }) => inGuest(input, out.plan, input.what),
    undo: ({ input, out }) => inGuest(input, out.plan, opposite(input.what)),
  })
  // For every later boot: what the guest agent sets lasts until the next one.
  .command('seed', 'Writing the network for its next start', {
    do: ({ input, out }) => bySeed(input, out.plan.after),
    undo: ({ input, out }) => bySeed(input, out.plan.before),
  })
  .command('define', 'Attaching it', {
    do: ({ input, out }) => (out.plan.after.seed ? nodeCommand(input.nodeId, 'vm.define', out.plan.vm) : undefined),
  })
  .command('forbid', 'Forbidding the address', {
    do: ({ input, out }) =>
      input.what === 'remove' ? nodeCommand(input.nodeId, 'firewall.allow', out.plan.after.rules) : undefined,
    undo: ({ input, out }) =>
      input.what === 'remove' ? nodeCommand(input.nodeId, 'firewall.allow', out.plan.before.rules) : undefined,
  })
  .record('tell', 'Recording it', {
    do: (tx, { input, out, now, log }) => {
      if (out.guest.guest !== 'applied') log(out.plan.after.seed ? LATER[out.guest.guest] : BY_HAND, 'warning')
      if (input.what === 'remove') releaseAddress(tx, input.serverId, input.addressId)
      const isOff = out.guest.guest === 'off'
      if (out.plan.after.seed) updateServer(tx, input.serverId, { pendingSeed: isOff ? 'next_start' : 'next_stop' })
      tell(tx, now, input.serverId, input.address, input.what)
    },
  })

/** Windows is told by its guest agent alone. */
export const BY_HAND = 'The guest agent does not answer: change the address inside Windows too.'
const LATER = {
  off: 'The server is off: its system learns of the change at its next start.',
  silent:
    'The guest agent does not answer: the system inside learns of the change when the server is restarted in the ' +
    'panel, or when somebody changes it there.',
} as const
