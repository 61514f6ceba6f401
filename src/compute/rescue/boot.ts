// Booting the rescue system. The record says that the server is in rescue when it is; until then every undo leads back
// to its own system and power.
import { Type as t } from 'typebox'
import { type ImageSource, type NodeCommand, nodeCommand, type Vm, type Volume } from '../../../agent/protocol/wire.ts'
import { hardwareOf } from '../../catalog/images/hardware.ts'
import { sourceOf } from '../../catalog/images/model.ts'
import { rescueImage } from '../../catalog/images/queries.ts'
import { refuseImage, runsOn } from '../../fleet/placement/hardware.ts'
import { mustHaveSpace } from '../../fleet/storage-pools/space.ts'
import { changeWorkload, takeDiskGeneration } from '../../fleet/workloads/queries.ts'
import { changeSpare } from '../../fleet/workloads/stays/stays.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { type CommandSource, saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import type { Stored } from '../../kernel/jobs/unstored.ts'
import { exactGb } from '../../kernel/words.ts'
import { isSshOpen } from '../../network/firewall-records/policy.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import { rootPasswordFor } from '../installation/order.ts'
import { BOOT_LIMIT_SECONDS, NO_ANSWER } from '../installation/plan.ts'
import { currentImage } from '../installation/steps.ts'
import { diskJob } from '../server-records/disk-lock.ts'
import { load, type RescueSystem, server } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { GIB, vmOf, volumeOf } from '../server-vm/definition.ts'
import { seedForNextStart } from '../server-vm/next-start.ts'
import { seedFor } from '../server-vm/seed.ts'
import { defineAfter, lookAtPower, shutDown, startVm } from '../server-vm/steps.ts'
import { rescueActions } from './states.ts'

/** Seconds for its own system to shut down, so that its disk is consistent. */
const GRACE_SECONDS = 60

export const rescueOptions = operation({
  id: 'servers.rescue-options',
  method: 'GET',
  path: '/servers/{id}/rescue-options',
  summary: 'The rescue system that a server can boot',
  access: everybody('servers:read'),
  on: server,
  response: namedSchema('RescueOptions', {
    image: described(nullable(t.String()), 'The name of the rescue image; null: staff have chosen none.'),
    sshOpen: described(t.Boolean(), 'Does its firewall, which applies in rescue too, let SSH in from somewhere?'),
  }),
  run: ({ tx, target }) => ({ image: rescueImage(tx)?.name ?? null, sshOpen: isSshOpen(tx, target.id) }),
})

export const rescueServer = operation({
  id: 'servers.rescue',
  method: 'POST',
  path: '/servers/{id}/actions/rescue',
  summary: 'Boot the rescue system of a server, with a password of its own; its disk is the second one there',
  past: 'Booted the rescue system',
  access: everybody('servers:settings'),
  requiresRecentAuth: true,
  on: server,
  response: namedSchema('RescueStarted', {
    jobId: t.String(),
    serverId: t.String(),
    rootPassword: described(t.String(), 'Of root in the rescue system. It is not shown again.'),
  }),
  status: 202,
  idempotent: true,
  refuses: [
    ...rescueActions.refusalsOf('rescue'),
    'server_busy',
    'no_rescue_image',
    'image_not_supported',
    'no_capacity',
  ],
  prepare: async () => rootPasswordFor({ mode: 'password' })!,
  run({ tx, actor, target, clock, prepared: password }) {
    rescueActions.mustAllowFor(tx, actor, target, 'rescue')
    const image = rescueImage(tx)
    if (!image)
      throw new ApiError('no_rescue_image', 'There is no rescue system: your provider has chosen no image for it yet.')
    const hardware = hardwareOf(image)
    if (!runsOn(tx, target.nodeId, hardware)) refuseImage(`The node of ${target.hostname} cannot`, hardware)
    mustHaveSpace(
      tx,
      { ...target, name: target.hostname },
      image.minDiskGb,
      `The rescue system needs ${exactGb(image.minDiskGb)} beside the disk of ${target.hostname}, and there is no ` +
        'space left. Ask your provider.',
    )
    const input = {
      serverId: target.id,
      nodeId: target.nodeId,
      image: sourceOf(image),
      diskGb: image.minDiskGb,
      hardware,
      unstored: { passwordHash: password.hash },
    }
    const title = `Boot the rescue system of ${target.hostname}`
    const jobId = startJob(tx, enteringRescue, input, diskJob(target, { by: actor, title, now: clock() }))
    return { jobId, serverId: target.id, rootPassword: password.tell }
  },
})

type Entering = {
  serverId: string
  nodeId: string
  image: ImageSource
  unstored: { passwordHash: string }
} & Omit<RescueSystem, 'generation'>
/** `hadSeed`: a seed waits for the next start of its own system. */
type Plan = {
  rescue: RescueSystem
  volume: Volume
  before: Vm
  after: Vm
  hadSeed: boolean
  address: string | null
}

/** Holds the space of the rescue disk. The system on it is another one than that on the server's disk. */
function plan(tx: Tx, { serverId, diskGb, hardware }: Entering): Plan {
  const target = load(tx, serverId)
  const own = volumeOf(target, target.diskGeneration!)
  const rescue = { generation: takeDiskGeneration(tx, serverId), diskGb, hardware }
  const held = addressesOf(tx, serverId)
  changeSpare(tx, serverId, diskGb)
  return {
    rescue,
    volume: volumeOf(target, rescue.generation),
    before: vmOf(tx, target, own, false),
    after: vmOf(tx, { ...target, rescue }, own, true),
    hadSeed: target.pendingSeed !== null,
    address: held.find((a) => a.version === 4)?.address ?? null,
  }
}

function rescueSeed(db: Db, { serverId, hardware, unstored: { passwordHash } }: Entering, instance: string) {
  const target = load(db, serverId)
  const access = { passwordHash, publicKeys: [] }
  return seedFor({ ...target, ...hardware, hostname: 'rescue' }, addressesOf(db, serverId), access, instance)
}

/** The seed that waited for the next start of its own system. */
const writeOwnSeed = (source: CommandSource, { serverId, nodeId }: Stored<Entering>, jobId: string) =>
  nodeCommand(nodeId, 'seed.write', seedForNextStart(source, load(source.db, serverId), `${jobId}-before`))

/** A restart loses the password. Then the job fails here, while the server still runs, and not behind its shutdown. */
const afterReadingInput =
  <C extends { input: Entering }>(make: (ctx: C) => NodeCommand | undefined) =>
  (ctx: C) => {
    void ctx.input.unstored.passwordHash
    return make(ctx)
  }
const stopping = shutDown(GRACE_SECONDS)

export const enteringRescue = saga<Entering>('rescue', { title: 'Rescue boot', cancelWith: 'servers:settings' })
  .record('plan', 'Holding space for its disk', {
    do: (tx, { input }) => plan(tx, input),
    undo: (tx, { input, out }) => {
      if (out.plan) changeSpare(tx, input.serverId, -input.diskGb)
    },
  })
  .command('look', ...lookAtPower)
  .command('image', 'Fetching the rescue image, unless it is there already', {
    abandonable: true,
    ...currentImage,
  })
  .command('disk', 'Making the rescue disk', {
    do: ({ input, out }) =>
      nodeCommand(input.nodeId, 'volume.create', {
        volume: out.plan.volume,
        image: input.image.id,
        sizeBytes: input.diskGb * GIB,
      }),
    undo: ({ input, out }) => nodeCommand(input.nodeId, 'volume.remove', out.plan.volume),
  })
  .command('stop', 'Shutting down its own system', { ...stopping, do: afterReadingInput(stopping.do) })
  .command('seed', 'Writing the data for its first boot', {
    // Made when they are sent: the output of a step is stored, and they hold a hash.
    do: ({ input, jobId }, { db }) => nodeCommand(input.nodeId, 'seed.write', rescueSeed(db, input, jobId)),
    undo: ({ input, out, jobId }, source) =>
      out.plan.hadSeed
        ? writeOwnSeed(source, input, jobId)
        : nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId }),
  })
  .command('define', 'Putting the rescue disk in front', defineAfter)
  .command('start', ...startVm)
  .command('boot', 'Waiting until it answers', {
    abandonable: true,
    do: ({ input, out }) =>
      nodeCommand(input.nodeId, 'vm.await', {
        workload: input.serverId,
        address: out.plan.address,
        limitSeconds: BOOT_LIMIT_SECONDS,
      }),
  })
  .command('unseed', 'Removing the data for its first boot', {
    do: ({ input, out }) =>
      out.boot.answered === 'agent' || out.boot.answered === 'ssh'
        ? nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId })
        : undefined,
    // Before the undo of the definition, which attaches it.
    undo: ({ input, out, jobId }, source) => (out.plan.hadSeed ? writeOwnSeed(source, input, jobId) : undefined),
  })
  .record('note', 'In rescue', {
    do: (tx, { input, out, log }) => {
      if (out.boot.answered === 'off')
        throw new CommandFailed('vm_off', 'The rescue system switched itself off before it answered.')
      if (out.boot.answered === 'no') log(NO_ANSWER, 'warning')
      updateServer(tx, input.serverId, { rescue: out.plan.rescue })
      changeWorkload(tx, input.serverId, { power: 'running', wantedPower: 'running' })
    },
  })
