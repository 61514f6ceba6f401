// Restoring a backup in place: the disk of the backup is made beside the present one, which stays until the vm runs
// from the new one. Until the last step every undo leads back to the present disk.
import type { Vm, Volume } from '../../../../agent/protocol/wire.ts'
import { hardwareOf, type SystemHardware } from '../../../catalog/images/hardware.ts'
import { refuseImage, runsOn } from '../../../fleet/placement/hardware.ts'
import { mustHaveSpace } from '../../../fleet/storage-pools/space.ts'
import { changeWorkload, takeDiskGeneration } from '../../../fleet/workloads/queries.ts'
import { changeSpare } from '../../../fleet/workloads/stays/stays.ts'
import { operation } from '../../../kernel/api/operation.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { exactGb } from '../../../kernel/words.ts'
import { startDestroying } from '../../brake/brake.ts'
import { watchGuest } from '../../guest/queries.ts'
import { diskJob } from '../../server-records/disk-lock.ts'
import { jobResponse, load, type Server, server } from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { GIB, vmOf, volumeOf } from '../../server-vm/definition.ts'
import { removeDisk } from '../../server-vm/remove-disk.ts'
import { defineAfter, isOn, lookAtPower, shutDown, startAgain } from '../../server-vm/steps.ts'
import { firstLayer, forgetSnapshots } from '../../snapshot-records/queries.ts'
import { backupActions, backupIn, mustBeRestorable } from '../model.ts'
import { backupById } from '../queries.ts'
import { readDisk } from './disk.ts'

/** Seconds for its system to shut down, so that it is consistent if it has to come back. */
const GRACE_SECONDS = 60

export const restoreBackup = operation({
  id: 'backups.restore',
  destroys: ['disks'],
  method: 'POST',
  path: '/servers/{id}/backups/{backupId}/actions/restore',
  summary: 'Replace the disk of a server by that of a backup; everything written since is lost, as are its snapshots',
  past: 'Restored a backup',
  access: { staff: ['servers:reinstall'], reseller: ['servers:reinstall'], customer: ['servers:reinstall'] },
  requiresRecentAuth: true,
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [
    ...backupActions.refusalsOf('restore_backup'),
    'server_busy',
    'backup_not_found',
    'backup_not_ready',
    'backup_elsewhere',
    'disk_too_small',
    'image_not_supported',
    'no_capacity',
  ],
  run({ tx, actor, target, params, clock }) {
    const backup = backupIn(tx, target, params['backupId'])
    mustBeRestorable(tx, actor, target, backup)
    mustHaveSpaceBeside(tx, target)
    if (!runsOn(tx, target.nodeId, hardwareOf(backup)))
      refuseImage(`The node of ${target.hostname} cannot`, hardwareOf(backup))
    const input = { serverId: target.id, nodeId: target.nodeId, backupId: backup.id }
    const title = `Restore ${target.hostname} from a backup`
    const job = diskJob(target, { by: actor, title, now: clock() })
    return { jobId: startDestroying(tx, restoringBackup, input, 'restore', job), serverId: target.id }
  },
})

/** Throws `no_capacity`. */
function mustHaveSpaceBeside(tx: Db, { nodeId, pool, hostname, diskGb }: Server) {
  const lacks =
    `A restore needs ${exactGb(diskGb)} beside the disk of ${hostname} until it is done, and there is no space ` +
    `left for that where ${hostname} stands. Ask your provider.`
  mustHaveSpace(tx, { nodeId, pool, name: hostname }, diskGb, lacks)
}

type Restoring = { serverId: string; nodeId: string; backupId: string }
type Plan = {
  before: Vm
  after: Vm
  /** The disk that is replaced. */
  old: Volume
  sizeBytes: number
  hardware: SystemHardware
  snapshot: string
  imageId: string | null
  imageChecksum: string | null
}

function plan(tx: Tx, { serverId, backupId }: Restoring): Plan {
  const target = load(tx, serverId)
  const backup = backupById(tx, backupId)!
  const old = volumeOf(target, target.diskGeneration!)
  const volume = volumeOf(target, takeDiskGeneration(tx, serverId))
  const hardware = hardwareOf(backup)
  return {
    before: vmOf(tx, target, old, false),
    after: vmOf(tx, { ...target, ...hardware, bootFirst: 'disk' }, volume, false),
    old,
    sizeBytes: target.diskGb * GIB,
    hardware,
    snapshot: backup.snapshot!,
    imageId: backup.imageId,
    imageChecksum: backup.imageChecksum,
  }
}

export const restoringBackup = saga<Restoring>('restore', {
  title: 'Restore',
  lane: 'bulk',
  cancelWith: 'servers:reinstall',
})
  .record('hold', 'Holding space for the disk', {
    do(tx, { input: { serverId } }) {
      const target = load(tx, serverId)
      mustHaveSpaceBeside(tx, target)
      changeSpare(tx, serverId, target.diskGb)
      return { diskGb: target.diskGb }
    },
    undo: (tx, { input, out }) => {
      if (out.hold) changeSpare(tx, input.serverId, -out.hold.diskGb)
    },
  })
  .record('plan', 'Planning', { do: (tx, { input }) => plan(tx, input) })
  .command('look', ...lookAtPower)
  .command('disk', ...readDisk((plan: Plan) => plan.after.volume))
  .command('stop', 'Shutting it down', shutDown(GRACE_SECONDS))
  .command('define', 'Putting the disk of the backup into place', defineAfter)
  .command('start', 'Starting it, if it ran', startAgain)
  .pivot('switch', 'Giving up the disk before', {
    losesData: true,
    do(tx, { input: { serverId, nodeId }, out: { hold, plan, look }, now }) {
      const power = isOn(look.power) ? 'running' : 'stopped'
      const { imageId, imageChecksum, hardware, after, old } = plan
      updateServer(tx, serverId, { imageId, imageChecksum, ...hardware, ...firstLayer, bootFirst: 'disk' })
      changeWorkload(tx, serverId, { diskGeneration: after.volume.generation, power, wantedPower: power })
      // Its snapshots are layers of the disk before, and go with it.
      const snapshotsGb = forgetSnapshots(tx, serverId)
      removeDisk(tx, { serverId, nodeId, volume: old, diskGb: hold.diskGb + snapshotsGb }, now)
      watchGuest(tx, serverId, now)
      return { switched: true }
    },
  })
