// Reinstalling a server so that a failure leaves the old system as it was. The new system gets a disk of its own beside
// the old one, and the last step takes it into use; the old disk is removed after that, by a job of its own. Until then
// every undo leads back to the old disk, definition and power. Where the node has no space for two disks, that job runs
// first, if the caller agrees, and an undo leaves the server without a system.

import { Type as t } from 'typebox'
import { nodeCommand, type Power, type Vm } from '../../../agent/protocol/wire.ts'
import { freeDiskGbFor } from '../../fleet/storage-pools/queries.ts'
import { mustAnswer } from '../../fleet/storage-pools/space.ts'
import { changeWorkload, isHostnameFree } from '../../fleet/workloads/queries.ts'
import { hostnameTaken, refuseHostnameTaken } from '../../fleet/workloads/reserve.ts'
import { changeSpare } from '../../fleet/workloads/stays/stays.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { exactGb } from '../../kernel/words.ts'
import { startDestroying } from '../brake/brake.ts'
import { noteStartupScript, watchGuest } from '../guest/queries.ts'
import { noteSeen } from '../guest/seen.ts'
import { diskJob } from '../server-records/disk-lock.ts'
import { inEvent, load, type Server, server } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { vmOf, volumeOf } from '../server-vm/definition.ts'
import { oldDiskRemoval, removeDisk } from '../server-vm/remove-disk.ts'
import { leaveRescue } from '../server-vm/rescue-disk.ts'
import { lookAtPower, startVm } from '../server-vm/steps.ts'
import { firstLayer, forgetSnapshots, snapshotsOf } from '../snapshot-records/queries.ts'
import { tellFailed } from './failed.ts'
import { access, firstBootFields, hostname, rootPasswordFor } from './order.ts'
import { type Installing, NO_ANSWER, type Plan, planInstallation, secretsIn, startupScriptIn } from './plan.ts'
import { imageFor, installationOf, installationStarted, who } from './setup.ts'
import { installationActions } from './states.ts'
import { awaitBoot, fetchImage, makeDisk, readsLater, removeSeed, writeSeed } from './steps.ts'

/** Seconds for the old system to shut down, so that it is consistent if it has to come back. */
const GRACE_SECONDS = 60

/** The fate of the old system: kept until the new one is in use, deleted first for lack of space, or there is none. */
const fates = ['kept', 'deleted_first', 'none'] as const
type Fate = (typeof fates)[number]

/** Decided by the space that placement counts with: each server holds its whole disk. */
function fateOfOldSystem(tx: Db, target: Server): Fate {
  if (target.diskGeneration === null) return 'none'
  return freeDiskGbFor(tx, target) >= target.diskGb ? 'kept' : 'deleted_first'
}

const noSpace = (target: Server) =>
  new ApiError(
    'no_room_to_reinstall',
    `There is no space for a second disk of ${exactGb(target.diskGb)} beside the one of ${target.hostname}, so its ` +
      'system would be deleted first: if the installation fails, nothing is left. To accept that, send ' +
      'discardFirst: true.',
    { neededGb: target.diskGb },
  )

export const reinstallOptions = operation({
  id: 'servers.reinstall-options',
  method: 'GET',
  path: '/servers/{id}/reinstall-options',
  summary: 'Whether the current system of a server survives a reinstallation that fails',
  // As for the record of the server: the page of its settings shows it to every reader.
  access: everybody('servers:read'),
  on: server,
  response: namedSchema('ReinstallOptions', {
    oldSystem: described(
      t.Enum([...fates]),
      'kept: until the new system is in use. deleted_first: there is no space for both disks, and nothing is left if ' +
        'the installation fails. none: nothing is installed.',
    ),
    neededGb: described(t.Integer(), 'The space that a second disk takes.'),
    snapshots: described(t.Integer(), 'So many snapshots are deleted with the disk.'),
  }),
  run: ({ tx, target }) => ({
    oldSystem: fateOfOldSystem(tx, target),
    neededGb: target.diskGb,
    snapshots: snapshotsOf(tx, target.id).length,
  }),
})

export const reinstallServer = operation({
  id: 'servers.reinstall',
  destroys: ['disks'],
  method: 'POST',
  path: '/servers/{id}/actions/reinstall',
  summary: 'Reinstall a server with an image; everything on its disk is lost once the new system is in use',
  past: 'Reinstalled',
  access: who,
  requiresRecentAuth: true,
  on: server,
  body: fields({
    imageId: t.String({ minLength: 1, maxLength: 40 }),
    hostname: t.Optional(hostname),
    access,
    ...firstBootFields,
    discardFirst: t.Optional(
      described(t.Boolean(), 'True: where there is no space for both disks, the old system is deleted first.'),
    ),
  }),
  response: installationStarted,
  status: 202,
  idempotent: true,
  refuses: [
    ...installationActions.refusalsOf('reinstall'),
    'server_busy',
    'hostname_taken',
    'disk_too_small',
    'image_not_supported',
    'no_room_to_reinstall',
    'no_capacity',
  ],
  example: { imageId: '<image_id>', access: { mode: 'password' } },
  prepare: async ({ body }) => rootPasswordFor(body.access),
  run({ tx, actor, target, body, clock, prepared: password }) {
    // Errors of the request come before those that only the present state causes.
    const chosen = imageFor(tx, actor, target, body.imageId)
    const input = {
      ...installationOf(tx, actor, target, chosen, body, password),
      imageId: chosen.id,
      hostname: (body.hostname ?? target.hostname).toLowerCase(),
      discardFirst: body.discardFirst === true,
    }
    installationActions.mustAllowFor(tx, actor, target, 'reinstall')
    if (!isHostnameFree(tx, target, input.hostname)) throw hostnameTaken()
    mustAnswer(tx, { ...target, name: target.hostname })
    if (fateOfOldSystem(tx, target) === 'deleted_first' && !input.discardFirst) throw noSpace(target)
    const about = diskJob(target, { by: actor, title: `Reinstall ${input.hostname}`, now: clock() })
    const jobId = startDestroying(tx, reinstalling, input, 'reinstall', about)
    return { jobId, serverId: target.id, ...(password ? { rootPassword: password.tell } : {}) }
  },
})

const noPendingSeed = { pendingSeed: null, pendingPasswordHash: null }

type Reinstalling = Installing & { imageId: string; hostname: string; discardFirst: boolean }

type ReinstallPlan = Plan & {
  /** The old system's definition, without a seed; undefined where there is none. */
  old: Vm | undefined
  /** As last reported before the job. */
  power: Power | null
}
type Hold = { fate: Fate; diskGb: number }
/** The outputs of later steps that decide how to undo. */
type Later = { look: { power: Power }; clear: readonly string[] }
type Outputs = { hold: Hold; plan: ReinstallPlan } & Partial<Later>

/** Decides the fate of the old system and holds the space of a second disk. Throws `no_room_to_reinstall`. */
function hold(tx: Tx, { serverId, discardFirst }: Reinstalling): Hold {
  const target = load(tx, serverId)
  const fate = fateOfOldSystem(tx, target)
  if (fate === 'deleted_first' && !discardFirst) throw noSpace(target)
  if (fate === 'kept') changeSpare(tx, serverId, target.diskGb)
  return { fate, diskGb: target.diskGb }
}

function plan(tx: Tx, input: Reinstalling, jobId: string): ReinstallPlan {
  const { serverId, hostname, hardware } = input
  changeWorkload(tx, serverId, { lifecycle: 'provisioning', failure: null })
  const target = load(tx, serverId)
  const old = target.diskGeneration === null ? undefined : volumeOf(target, target.diskGeneration)
  return {
    ...planInstallation(tx, { ...target, hostname, ...hardware }, input, jobId),
    // The seed of a password reset does not survive that of the installation.
    old: old && vmOf(tx, { ...target, pendingSeed: null }, old, false),
    power: target.power,
  }
}

/**
 * Returns the server to the state of the disk in use; without one its installation failed. A termination recorded
 * meanwhile stays.
 */
function unplan(tx: Tx, serverId: string, power: Power | null, reason: string | null) {
  const { lifecycle, diskGeneration } = load(tx, serverId)
  updateServer(tx, serverId, noPendingSeed)
  if (lifecycle === 'terminated') return
  if (diskGeneration === null) {
    changeWorkload(tx, serverId, { lifecycle: 'failed', failure: reason, power: null })
  } else changeWorkload(tx, serverId, { lifecycle: 'active', power })
}

/** Undoing leads back to the old system, unless there is none or it was given up. */
const comesBack = ({ hold: { fate }, clear }: Outputs) =>
  fate === 'kept' || (fate === 'deleted_first' && !clear?.length)

/** Starts the old system if it ran; removes the definition where there is no old system. */
const bringBack = ({ nodeId, serverId }: Installing, out: Outputs) => {
  if (!comesBack(out)) return nodeCommand(nodeId, 'vm.remove', { workload: serverId })
  return isOn(out.look?.power) ? nodeCommand(nodeId, 'vm.start', { workload: serverId }) : undefined
}

/**
 * Without space for two disks the record of the old system goes in the transaction that starts the job which deletes
 * its disk. That job is never undone, so the disk goes in any case, and this job waits for it.
 */
function giveUpOldSystem(
  tx: Tx,
  { serverId, nodeId }: Installing,
  { hold: { fate }, plan: { old } }: Outputs,
  now: number,
) {
  if (fate !== 'deleted_first' || !old) return []
  leaveRescue(tx, serverId, now)
  changeSpare(tx, serverId, -forgetSnapshots(tx, serverId))
  updateServer(tx, serverId, firstLayer)
  changeWorkload(tx, serverId, { diskGeneration: null })
  return [oldDiskRemoval(tx, { serverId, nodeId, volume: old.volume, diskGb: 0 })]
}

const isOn = (power: Power | undefined) => power === 'running' || power === 'paused'

export const reinstalling = saga<Reinstalling, Later>('reinstall', {
  title: 'Reinstallation',
  lane: 'build',
  cancelWith: 'servers:reinstall',
  secrets: secretsIn,
  retry: () => 'reinstall',
})
  .record('hold', 'Holding space for the new disk', {
    do: (tx, { input }) => hold(tx, input),
    undo: (tx, { input, out, error, now, jobId }) => {
      if (out.hold?.fate === 'kept') changeSpare(tx, input.serverId, -out.hold.diskGb)
      // Without it nothing was planned, whose undo tells otherwise.
      const reason = error?.cause ?? null
      if (!out.hold) tellFailed(tx, { serverId: input.serverId, jobId, reason, now })
    },
  })
  .record('plan', 'Planning the installation', {
    do: (tx, { input, jobId }) => plan(tx, input, jobId),
    undo: (tx, { input, out, error, now, jobId }) => {
      const reason = error?.cause ?? null
      if (out.plan) unplan(tx, input.serverId, out.look?.power ?? out.plan.power, reason)
      tellFailed(tx, { serverId: input.serverId, jobId, reason, now })
    },
    undoAtOnce: true,
  })
  .command('look', ...lookAtPower)
  .command('image', ...fetchImage)
  // Before the new vm starts, so that it can never send with the address of another. The old system has the same rules.
  .command('firewall', 'Loading its network rules', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'firewall.allow', out.plan.portRules),
    undo: ({ input, out }) =>
      comesBack(out) ? undefined : nodeCommand(input.nodeId, 'firewall.forget', { workload: input.serverId }),
  })
  .command('stop', 'Shutting down the old system', {
    do: ({ input, out }) =>
      out.hold.fate === 'none'
        ? nodeCommand(input.nodeId, 'vm.remove', { workload: input.serverId })
        : out.hold.fate === 'deleted_first'
          ? nodeCommand(input.nodeId, 'vm.stop', { workload: input.serverId, graceSeconds: GRACE_SECONDS })
          : undefined,
    undo: ({ input, out }) => (out.hold.fate === 'kept' ? undefined : bringBack(input, out)),
  })
  // Without space for two disks nothing leads back to the old system from here on.
  .jobs('clear', 'Deleting the old system', {
    losesData: true,
    start: (tx, { input, out, now }) => giveUpOldSystem(tx, input, out, now),
  })
  .command('disk', 'Making the new disk', makeDisk)
  // After the copy, which may take minutes in which the old system still runs.
  .command('stop-kept', 'Shutting down the old system', {
    do: ({ input, out }) =>
      out.hold.fate === 'kept'
        ? nodeCommand(input.nodeId, 'vm.stop', { workload: input.serverId, graceSeconds: GRACE_SECONDS })
        : undefined,
    undo: ({ input, out }) => (out.hold.fate === 'kept' ? bringBack(input, out) : undefined),
  })
  .command('seed', ...writeSeed)
  .command('define', 'Defining the virtual machine', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'vm.define', out.plan.vm),
    undo: ({ input, out }) =>
      comesBack(out) && out.plan.old
        ? nodeCommand(input.nodeId, 'vm.define', out.plan.old)
        : nodeCommand(input.nodeId, 'vm.remove', { workload: input.serverId }),
  })
  .command('start', ...startVm)
  .command('boot', ...awaitBoot)
  .command('unseed', ...removeSeed)
  .pivot('switch', 'Taking the new system into use', {
    do: (tx, { input, out, now, log, jobId }) => {
      const { serverId, nodeId } = input
      if (out.boot.answered === 'off')
        throw new CommandFailed('vm_off', 'The new system switched itself off before it answered.')
      if (out.boot.answered === 'no') log(NO_ANSWER, 'warning')
      takeIntoUse(tx, input, out.plan.volume.generation)
      updateServer(tx, serverId, { imageChecksum: out.disk.checksum ?? null })
      if (readsLater(input)) updateServer(tx, serverId, { pendingSeed: 'next_start' })
      watchGuest(tx, serverId, now)
      noteSeen(tx, serverId, { jobId, boot: out.boot, look: out.plan.look, access: input.access, now, log })
      noteStartupScript(tx, serverId, startupScriptIn(input, jobId, now))
      const isFirst = load(tx, serverId).provisionedAt === null
      if (isFirst) updateServer(tx, serverId, { provisionedAt: now })
      const { concerning, data } = inEvent(tx, load(tx, serverId))
      // The first installation had failed: whoever waits for the server hears that it is there.
      if (isFirst) emit(tx, now, 'server.provisioned', concerning, data)
      emit(tx, now, 'server.reinstalled', concerning, { ...data, image: input.imageId })
      const { hold, plan } = out
      // Its snapshots are layers of the old disk, and go with it.
      const snapshotsGb = forgetSnapshots(tx, serverId)
      if (hold.fate === 'kept' && plan.old)
        removeDisk(tx, { serverId, nodeId, volume: plan.old.volume, diskGb: hold.diskGb + snapshotsGb }, now)
      leaveRescue(tx, serverId, now)
    },
  })

/**
 * The new disk, image and hostname become the server's. Throws `hostname_taken`, when another took the name meanwhile.
 */
function takeIntoUse(tx: Tx, { serverId, imageId, hostname, hardware }: Reinstalling, diskGeneration: number) {
  const before = load(tx, serverId)
  try {
    changeWorkload(tx, serverId, {
      hostname,
      name: before.name === before.hostname ? hostname : before.name,
      lifecycle: 'active',
      power: 'running',
      wantedPower: 'running',
      diskGeneration,
    })
  } catch (error) {
    refuseHostnameTaken(error)
  }
  updateServer(tx, serverId, { imageId, ...hardware, ...noPendingSeed, ...firstLayer, bootFirst: 'disk' })
}
