// One address more or less, on the node and inside the guest. The node allows an address before the guest has it, and
// forbids it after the guest has given it up, so that no packet of the guest is lost in between. The address is free
// for others only when the node has forbidden it.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { inEvent, load, type Server, serverJob } from '../../compute/server-records/model.ts'
import { updateServer } from '../../compute/server-records/queries.ts'
import { portRulesOf, vmOf, volumeOf } from '../../compute/server-vm/definition.ts'
import { seedForNextStart } from '../../compute/server-vm/next-start.ts'
import { guestCidr, hasNetworkSeed } from '../../compute/server-vm/seed.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { type CommandSource, saga } from '../../kernel/jobs/saga.ts'
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

function plan(tx: Tx, { serverId, addressId, what }: Input) {
  const target = load(tx, serverId)
  const withIt = addressesOf(tx, serverId)
  const without = withIt.filter(({ id }) => id !== addressId)
  const [present, absent] = [portRulesOf(target, withIt), portRulesOf(target, without)]
  return {
    rulesBefore: what === 'add' ? absent : present,
    rulesAfter: what === 'add' ? present : absent,
    hasSeed: hasNetworkSeed(target),
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
/** The network for its next start, with the address or without it. */
function bySeed(source: CommandSource, { serverId, nodeId, addressId }: Input, jobId: string, isThere: boolean) {
  const held = addressesOf(source.db, serverId).filter(({ id }) => isThere || id !== addressId)
  const instance = `${jobId}-${isThere ? 'with' : 'without'}`
  return nodeCommand(nodeId, 'seed.write', seedForNextStart(source, load(source.db, serverId), instance, held))
}
const opposite = (what: What): What => (what === 'add' ? 'remove' : 'add')

export const changingAddresses = saga<Input>('addresses', { title: 'Address change', cancelWith: 'servers:resize' })
  .record('plan', 'Preparing its network', {
    do: (tx, { input }) => plan(tx, input),
    undo: (tx, { input }) => {
      if (input.what === 'add') releaseAddress(tx, input.serverId, input.addressId)
    },
  })
  .command('allow', 'Allowing the address', {
    do: ({ input, out }) =>
      input.what === 'add' ? nodeCommand(input.nodeId, 'firewall.allow', out.plan.rulesAfter) : undefined,
    undo: ({ input, out }) =>
      input.what === 'add' ? nodeCommand(input.nodeId, 'firewall.allow', out.plan.rulesBefore) : undefined,
  })
  .command('guest', 'Telling the guest', {
    do: ({ input, out }) => inGuest(input, out.plan, input.what),
    undo: ({ input, out }) => inGuest(input, out.plan, opposite(input.what)),
  })
  // For every later boot: what the guest agent sets lasts until the next one.
  .command('seed', 'Writing the network for its next start', {
    do: ({ input, out, jobId }, source) =>
      out.plan.hasSeed ? bySeed(source, input, jobId, input.what === 'add') : undefined,
    undo: ({ input, out, jobId }, source) =>
      out.plan.hasSeed ? bySeed(source, input, jobId, input.what === 'remove') : undefined,
  })
  .command('define', 'Attaching it', {
    do: ({ input, out }) => (out.plan.hasSeed ? nodeCommand(input.nodeId, 'vm.define', out.plan.vm) : undefined),
  })
  .command('forbid', 'Forbidding the address', {
    do: ({ input, out }) =>
      input.what === 'remove' ? nodeCommand(input.nodeId, 'firewall.allow', out.plan.rulesAfter) : undefined,
    undo: ({ input, out }) =>
      input.what === 'remove' ? nodeCommand(input.nodeId, 'firewall.allow', out.plan.rulesBefore) : undefined,
  })
  .record('tell', 'Recording it', {
    do: (tx, { input, out, now, log }) => {
      if (out.guest.guest !== 'applied') log(out.plan.hasSeed ? LATER[out.guest.guest] : BY_HAND, 'warning')
      if (input.what === 'remove') releaseAddress(tx, input.serverId, input.addressId)
      const isOff = out.guest.guest === 'off'
      if (out.plan.hasSeed) updateServer(tx, input.serverId, { pendingSeed: isOff ? 'next_start' : 'next_stop' })
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
