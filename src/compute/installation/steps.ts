// Steps that a first installation, a reinstallation and a restore to a new server have in common: each is the words for
// people and the step.
import { type ImageSource, nodeCommand } from '../../../agent/protocol/wire.ts'
import { lookForBuild, sourceNow } from '../../catalog/images/renew.ts'
import type { CommandSource } from '../../kernel/jobs/saga.ts'
import { BOOT_LIMIT_SECONDS, type Installing, type Plan } from './plan.ts'

type Planned = { input: Installing; out: { plan: Plan } }
/** A step of every job that makes a vm, from an image or from a backup. */
type Making<K extends keyof Plan> = { input: { serverId: string; nodeId: string }; out: { plan: Pick<Plan, K> } }
type Booted = { input: Installing; out: { boot: { answered: 'agent' | 'ssh' | 'no' | 'off' } } }

/** Sends the build that is current when the command goes out, and looks for a newer one when its file has changed. */
export const currentImage = {
  do: ({ input }: { input: { nodeId: string; image: ImageSource } }, { db }: CommandSource) =>
    nodeCommand(input.nodeId, 'image.ensure', sourceNow(db, input.image)),
  remedy: { codes: ['checksum_mismatch'], do: lookForBuild },
} as const

/** The image stays on the node when the job fails, for the next server that uses it. */
export const fetchImage = [
  'Getting the image',
  {
    abandonable: true,
    ...currentImage,
  },
] as const

/** The step that makes the disk, which removes it when it is undone. */
export const makeDisk = {
  do: ({ input, out }: Planned) =>
    nodeCommand(input.nodeId, 'volume.create', {
      volume: out.plan.volume,
      image: input.image.id,
      sizeBytes: out.plan.sizeBytes,
    }),
  undo: ({ input, out }: Planned) => nodeCommand(input.nodeId, 'volume.remove', out.plan.volume),
}

export const writeSeed = [
  'Writing the data for its first boot',
  {
    do: ({ input, out }: Planned) => nodeCommand(input.nodeId, 'seed.write', out.plan.seed),
    undo: ({ input }: Planned) => nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId }),
  },
] as const

/** Comes before the vm's tap exists, so that it can never send with the address of another. */
export const loadNetworkRules = [
  'Loading its network rules',
  {
    do: ({ input, out }: Making<'portRules'>) => nodeCommand(input.nodeId, 'firewall.allow', out.plan.portRules),
    undo: ({ input }: Making<never>) => nodeCommand(input.nodeId, 'firewall.forget', { workload: input.serverId }),
  },
] as const

/** Defines the vm of a server that had none. */
export const defineNew = [
  'Defining the virtual machine',
  {
    do: ({ input, out }: Making<'vm'>) => nodeCommand(input.nodeId, 'vm.define', out.plan.vm),
    undo: ({ input }: Making<never>) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.serverId }),
  },
] as const

export const awaitBoot = [
  'Waiting until it answers',
  {
    abandonable: true,
    do: ({ input, out }: Making<'address' | 'look'>) =>
      nodeCommand(input.nodeId, 'vm.await', {
        workload: input.serverId,
        address: out.plan.address,
        limitSeconds: BOOT_LIMIT_SECONDS,
        look: out.plan.look,
      }),
  },
] as const

/** Windows restarts while it is set up, and reads its data minutes after its guest agent answers. */
export const readsLater = ({ hardware }: Installing) => hardware.os === 'windows'

/**
 * An image without guest agent and SSH may boot and never answer: its seed stays for as long as it may still be read.
 */
export const removeSeed = [
  'Removing the data for its first boot',
  {
    do: ({ input, out }: Booted) =>
      !readsLater(input) && (out.boot.answered === 'agent' || out.boot.answered === 'ssh')
        ? nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId })
        : undefined,
  },
] as const
