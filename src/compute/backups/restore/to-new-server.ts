// Restoring a backup to a new server of the same owner: an order whose disk comes from the backup. Its system keeps
// what is in it and learns its new addresses at its first boot.
import { Type as t } from 'typebox'
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { hardwareOf } from '../../../catalog/images/hardware.ts'
import { isNodeIn } from '../../../fleet/node-records/queries.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { mustAllowOrder } from '../../../identity/resellers/model.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { exactGb } from '../../../kernel/words.ts'
import { addressesOf } from '../../../network/ip-pools/allocate.ts'
import { watchGuest } from '../../guest/queries.ts'
import { noteSeen } from '../../guest/seen.ts'
import { acceptServer, namedIn, refusalsOfOrder } from '../../installation/accept.ts'
import { hostname } from '../../installation/order.ts'
import { NO_ANSWER, planInstallation } from '../../installation/plan.ts'
import { awaitBoot, defineNew, loadNetworkRules } from '../../installation/steps.ts'
import { groupFor } from '../../ordered-group.ts'
import { inEvent, load, serverJob } from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { withPrivateCards } from '../../server-vm/private-cards.ts'
import { hasNetworkSeed, identitySeed, networkSeed } from '../../server-vm/seed.ts'
import { startVm } from '../../server-vm/steps.ts'
import { mustBeOrderable } from '../../workloads/order.ts'
import { type Backup, backup, mustBeReady } from '../model.ts'
import { backupById } from '../queries.ts'
import { isOnNodeOnly } from '../reach.ts'
import { readDisk } from './disk.ts'

const named = t.String({ minLength: 1, maxLength: 40 })

export const restoreToNewServer = operation({
  id: 'backups.restore-to-new-server',
  method: 'POST',
  path: '/backups/{id}/actions/restore-to-new-server',
  summary: 'Order a server for the owner of a backup, with the disk of the backup',
  past: 'Restored a backup to a new server',
  access: { staff: ['servers:create'], reseller: ['reseller:servers'] },
  on: backup,
  body: fields({
    packageId: named,
    nodeGroupId: named,
    hostname: t.Optional(hostname),
    placementGroupId: t.Optional(described(named, 'A placement group of the owner, which the server joins.')),
    identity: t.Optional(
      described(
        t.Enum(['new', 'keep']),
        'new (the default): its system gets the hostname, new SSH host keys and a new machine id, so that it can run ' +
          'beside the server of the backup. keep: it keeps those in the backup, to take the place of that server.',
      ),
    ),
  }),
  response: namedSchema('BackupRestoredToServer', {
    jobId: t.String(),
    serverId: t.String(),
    ipv4: nullable(t.String()),
  }),
  status: 201,
  idempotent: true,
  refuses: ['backup_not_ready', ...refusalsOfOrder],
  example: { packageId: '<package_id>', nodeGroupId: '<location_id>', hostname: 'web01-restored' },
  run({ tx, actor, target, body, clock, nodes }) {
    const { pack, where } = namedIn(tx, actor, body)
    if (isOnNodeOnly(tx, target) && !isNodeIn(tx, target.nodeId, where.id))
      throw invalid({
        field: 'nodeGroupId',
        message: 'must be the location of the node in whose folder the backup lies.',
      })
    const owner = accountById(tx, target.ownerId)!
    const group = groupFor(tx, actor, owner.id, body.placementGroupId)
    mustBeReady(target)
    mustBeOrderable(tx, actor, owner, undefined, (reseller) => mustAllowOrder(tx, clock(), reseller, pack, where))
    if (pack.diskGb < target.diskGb)
      throw new ApiError(
        'disk_too_small',
        `The backup has a disk of ${exactGb(target.diskGb)}; this package has ${exactGb(pack.diskGb)}. ` +
          'Choose a bigger package.',
      )
    const { imageId, imageChecksum } = target
    const {
      id,
      hostname: host,
      node,
      ipv4,
    } = acceptServer(
      { tx, actor, nodes, clock },
      {
        owner,
        pack,
        where,
        hardware: hardwareOf(target),
        hostname: body.hostname?.toLowerCase(),
        name: undefined,
        lifecycle: 'provisioning',
        nodeId: isOnNodeOnly(tx, target) ? target.nodeId : null,
        group,
        server: { ...hardwareOf(target), imageId, imageChecksum },
      },
    )
    const title = `Restore a backup of ${target.serverName} to ${host}`
    const input = { serverId: id, nodeId: node.id, backupId: target.id, identity: body.identity ?? 'new' }
    const about = serverJob({ id, nodeId: node.id }, { by: actor, title, now: clock() })
    return { jobId: startJob(tx, restoringToNew, input, about), serverId: id, ipv4 }
  },
})

/** `identity`: left out by the release before this one, whose restores kept it. */
type Restoring = { serverId: string; nodeId: string; backupId: string; identity?: 'new' | 'keep' }

/** Without a seed where the system cannot read one: its network is then set at its console. */
function planRestore(tx: Tx, { serverId, identity = 'keep' }: Restoring, backup: Backup, jobId: string) {
  changeWorkload(tx, serverId, { lifecycle: 'provisioning', failure: null })
  const target = load(tx, serverId)
  const planned = planInstallation(tx, target, { access: { passwordHash: null, publicKeys: [] } }, jobId)
  const seeded = hasNetworkSeed(target)
  const seedOf = identity === 'new' ? identitySeed : networkSeed
  return {
    ...planned,
    vm: { ...planned.vm, seeded },
    seed: seeded ? withPrivateCards(tx, seedOf(target, addressesOf(tx, serverId), jobId)) : null,
    snapshot: backup.snapshot!,
    ...(planned.look && { look: { ...planned.look, names: identity === 'new' ? planned.look.names : [] } }),
  }
}

export const restoringToNew = saga<Restoring>('restore_to_new', {
  title: 'Restore to a new server',
  lane: 'bulk',
  cancelWith: 'servers:reinstall',
  retry: () => 'reinstall',
})
  .record('plan', 'Planning the restore', {
    do: (tx, { input, jobId }) => planRestore(tx, input, backupById(tx, input.backupId)!, jobId),
    // A termination that was recorded meanwhile stays.
    undo: (tx, { input, error }) => {
      if (load(tx, input.serverId).lifecycle !== 'terminated')
        changeWorkload(tx, input.serverId, {
          lifecycle: 'failed',
          failure: error?.cause ?? null,
          power: null,
        })
    },
    undoAtOnce: true,
  })
  .command('disk', ...readDisk((plan: ReturnType<typeof planRestore>) => plan.volume))
  .command('seed', 'Writing its new addresses for its first boot', {
    do: ({ input, out }) => (out.plan.seed ? nodeCommand(input.nodeId, 'seed.write', out.plan.seed) : undefined),
    undo: ({ input }) => nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId }),
  })
  .command('firewall', ...loadNetworkRules)
  .command('define', ...defineNew)
  .command('start', ...startVm)
  .command('boot', ...awaitBoot)
  .command('unseed', 'Removing the data for its first boot', {
    do: ({ input, out }) =>
      out.plan.seed && (out.boot.answered === 'agent' || out.boot.answered === 'ssh')
        ? nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId })
        : undefined,
  })
  // The last step: nothing can fail after the event, so it needs no undo.
  .record('tell', 'Ready', {
    do(tx, { input: { serverId, identity }, out: { plan, boot }, now, log, jobId }) {
      if (boot.answered === 'no' || boot.answered === 'off') log(NO_ANSWER, 'warning')
      if (plan.seed && identity === 'new') log('Its system has a new identity: hostname, SSH host keys, machine id.')
      if (!plan.seed) log('Its system takes no addresses from here: set its network at the console.', 'warning')
      changeWorkload(tx, serverId, {
        lifecycle: 'active',
        power: 'running',
        wantedPower: 'running',
        diskGeneration: plan.volume.generation,
      })
      updateServer(tx, serverId, { bootFirst: 'disk', provisionedAt: now })
      watchGuest(tx, serverId, now)
      noteSeen(tx, serverId, { jobId, boot, look: plan.look, access: null, now, log })
      const { concerning, data } = inEvent(tx, load(tx, serverId))
      emit(tx, now, 'server.provisioned', concerning, data)
    },
  })
