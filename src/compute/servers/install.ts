// Building a server on its node. One saga for the first installation, for the setup of a server that waited for it, and for
// installing again: they differ in what was there before and in what is told afterwards.
import {
  type ImageSource,
  nodeCommand,
  type PortRules,
  type Seed,
  TAP_PREFIX,
  type Vm,
  type Volume,
} from '../../../agent/protocol/wire.ts'
import { nodeById } from '../../fleet/nodes/queries.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import { changeWorkload } from '../workloads/queries.ts'
import { inEvent, load, type Server } from './model.ts'
import { type Access, seedFor } from './seed.ts'

const GIB = 1024 ** 3
/** How long a guest may take until it answers. Real images take half a minute; emulated ones several. */
const BOOT_LIMIT_SECONDS = 300

export type Installing = {
  serverId: string
  nodeId: string
  image: ImageSource
  access: Access
  /** `again`: something is on its disk already, which goes. */
  purpose: 'create' | 'setup' | 'again'
}

type Plan = {
  volume: Volume
  sizeBytes: number
  portRules: PortRules
  vm: Vm
  seed: Seed
  address: string | null
}

/** Everything the node will be told, from the row as it is now: worked out once, so that a retry builds the same. */
function plan(tx: Tx, it: Server, access: Access, instance: string): Plan {
  const held = addressesOf(tx, it.id)
  const tap = `${TAP_PREFIX}${it.number}`
  const volume: Volume = { workload: it.id, generation: 0, pool: it.pool, format: it.format }
  return {
    volume,
    sizeBytes: it.diskGb * GIB,
    portRules: {
      workload: it.id,
      tap,
      mac: it.mac,
      ipv4: held.filter((a) => a.version === 4).map((a) => a.address),
      ipv6: held.filter((a) => a.version === 6).map((a) => `${a.address}/${a.prefixLength}`),
    },
    vm: {
      workload: it.id,
      hostname: it.hostname,
      vcpus: it.vcpus,
      memoryMb: it.memoryMb,
      volume,
      seeded: true,
      network: { bridge: nodeById(tx, it.nodeId)!.bridge, tap, mac: it.mac, portMbps: it.portMbps },
    },
    seed: seedFor(it, held, access, instance),
    address: held.find((a) => a.version === 4)?.address ?? null,
  }
}

export const installing = saga<Installing>('install', { lane: 'build', cancelWith: 'servers:reinstall' })
  .record('plan', 'Reserving what it needs', {
    do: (tx, { input, jobId }) => {
      changeWorkload(tx, input.serverId, { lifecycle: 'provisioning', failure: null })
      return plan(tx, load(tx, input.serverId), input.access, jobId)
    },
    // Its addresses stay its own: it can be installed again, or terminated, which gives them back.
    // A termination that was recorded meanwhile stays.
    undo: (tx, { input, error }) => {
      if (load(tx, input.serverId).lifecycle !== 'terminated')
        changeWorkload(tx, input.serverId, {
          lifecycle: input.purpose === 'setup' ? 'pending_setup' : 'failed',
          failure: error?.message ?? null,
          power: null,
        })
    },
    undoAtOnce: true,
  })
  // Kept when the job fails: the next server from this image will want it.
  .command('image', 'Fetching the image, unless the node has it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'image.ensure', input.image),
    abandonable: true,
  })
  // What was on the disk was given up when the installation was asked for; nothing brings it back.
  .command('clear', 'Removing what was there before', {
    do: ({ input }) =>
      input.purpose === 'again' ? nodeCommand(input.nodeId, 'vm.remove', { workload: input.serverId }) : undefined,
  })
  .command('clear-disk', 'Deleting the old disk', {
    do: ({ input, out }) =>
      input.purpose === 'again' ? nodeCommand(input.nodeId, 'volume.remove', out.plan.volume) : undefined,
  })
  .command('disk', 'Making the disk', {
    do: ({ input, out }) =>
      nodeCommand(input.nodeId, 'volume.create', {
        volume: out.plan.volume,
        image: input.image.id,
        sizeBytes: out.plan.sizeBytes,
      }),
    undo: ({ input, out }) => nodeCommand(input.nodeId, 'volume.remove', out.plan.volume),
  })
  .command('seed', 'Writing what it is told at its first boot', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'seed.write', out.plan.seed),
    undo: ({ input }) => nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId }),
  })
  // Before the guest's tap exists: there is no moment in which it could speak with another's address.
  .command('firewall', 'Loading its network rules', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'firewall.allow', out.plan.portRules),
    undo: ({ input }) => nodeCommand(input.nodeId, 'firewall.forget', { workload: input.serverId }),
  })
  .command('define', 'Defining the machine', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'vm.define', out.plan.vm),
    undo: ({ input }) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.serverId }),
  })
  .command('start', 'Starting it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.start', { workload: input.serverId }),
    undo: ({ input }) => nodeCommand(input.nodeId, 'vm.stop', { workload: input.serverId, graceSeconds: 0 }),
  })
  .command('boot', 'Waiting until it answers', {
    do: ({ input, out }) =>
      nodeCommand(input.nodeId, 'vm.await', {
        workload: input.serverId,
        address: out.plan.address,
        limitSeconds: BOOT_LIMIT_SECONDS,
      }),
    abandonable: true,
  })
  // An image without guest agent and SSH may boot and never tell: its seed stays until it is next stopped.
  .command('unseed', 'Taking its first-boot data away', {
    do: ({ input, out }) =>
      out.boot.answered === 'no' ? undefined : nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId }),
  })
  // Last: once it is told, nothing can fail any more, so it needs no undo.
  .record('tell', 'Ready', {
    do: (tx, { input, out, now, log }) => {
      if (out.boot.answered === 'no')
        log(
          `It runs but did not answer within ${BOOT_LIMIT_SECONDS} s, neither by guest agent nor by SSH. Look at its console.`,
          'warning',
        )
      changeWorkload(tx, input.serverId, { lifecycle: 'active', power: 'running', wantedPower: 'running' })
      const { concerning, data } = inEvent(tx, load(tx, input.serverId))
      if (input.purpose === 'again') emit(tx, now, 'server.reinstalled', concerning, { ...data, image: input.image.id })
      else emit(tx, now, 'server.provisioned', concerning, data)
    },
  })
