// The restore drill: a backup is restored to a disk of its own and booted without any network, and its system has to
// answer. The result stays with the backup; everything else is removed, also when it fails.
import { Type as t } from 'typebox'
import type { DrillProof } from '../../../../agent/protocol/backup.ts'
import { nodeCommand, type Volume } from '../../../../agent/protocol/wire.ts'
import { hardwareOf, type SystemHardware } from '../../../catalog/images/hardware.ts'
import { holdForGuest, releaseGuest } from '../../../fleet/node-records/queries.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { namedSchema, operation } from '../../../kernel/api/operation.ts'
import { newId } from '../../../kernel/db/ids.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import type { ExplainedFailure } from '../../../kernel/jobs/failures.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { subjectOfOwner } from '../../server-records/model.ts'
import { GIB } from '../../server-vm/definition.ts'
import { type Backup, backup, mustBeReady } from '../model.ts'
import { noteDrillOfPlan } from '../plans/queries.ts'
import { backupById, changeBackup } from '../queries.ts'
import { readDisk } from '../restore/disk.ts'
import { type DrillNode, memoryMbFor, nodeForDrill } from './placement.ts'
import { drillsAtWork, forgetDrillFailure, keepDrillFailure, noteNight } from './queries.ts'

/** Emulated systems take several minutes. */
const LIMIT_SECONDS = 600

export const drillBackup = operation({
  id: 'backups.drill',
  method: 'POST',
  path: '/admin/backups/{id}/actions/drill',
  summary: 'Restore a backup into a machine without network, wait until its system answers, and remove it again',
  past: 'Started a restore drill',
  access: { staff: ['servers:settings'] },
  on: backup,
  response: namedSchema('BackupDrillStarted', { jobId: t.String() }),
  status: 202,
  idempotent: true,
  refuses: ['backup_not_ready', 'drill_running', 'no_capacity'],
  run({ tx, actor, target, clock, nodes }) {
    mustBeReady(target)
    if (drillsAtWork(tx).length) throw running()
    const node = nodeForDrill(tx, nodes, target)
    if ('words' in node) throw new ApiError('no_capacity', `${node.words} Try again when there is space.`)
    return { jobId: startDrill(tx, target, node, { by: actor, now: clock() }) }
  },
})

const running = () => new ApiError('drill_running', 'A restore drill is under way. Wait until it has ended.')

type Drilling = { backupId: string; nodeId: string; drillId: string; pool: string; format: Volume['format'] }

/** Starts the drill of a backup and answers the job's id. Throws `drill_running`: one at a time on all nodes. */
export function startDrill(tx: Tx, backup: Backup, node: DrillNode, { by, now }: { by: Actor; now: number }): string {
  const jobId = startJob(
    tx,
    drilling,
    { backupId: backup.id, drillId: newId('drl'), ...node },
    {
      by,
      title: `Test a restore of ${backup.serverName}`,
      nodeId: node.nodeId,
      subject: subjectOfOwner(tx, backup.serverId, backup.ownerId),
      holds: 'restore drill',
      busy: running,
      now,
    },
  )
  changeBackup(tx, backup.id, { drillJobId: jobId })
  return jobId
}

type Plan = {
  volume: Volume
  sizeBytes: number
  memoryMb: number
  hardware: SystemHardware
  snapshot: string
  at: number
}

function plan(tx: Tx, { backupId, drillId, pool, format }: Drilling, now: number): Plan {
  const backup = backupById(tx, backupId)
  if (backup?.state !== 'ready') throw new ApiError('backup_not_ready', 'The backup is being deleted.')
  return {
    volume: { workload: drillId, generation: 1, pool, format },
    sizeBytes: backup.diskGb * GIB,
    memoryMb: memoryMbFor(backup),
    hardware: hardwareOf(backup),
    snapshot: backup.snapshot!,
    at: now,
  }
}

/** Failures that say nothing about the backup. */
const ofOthers = new Set([
  'cancelled',
  'backup_not_ready',
  'backup_locked',
  'node_removed',
  'node_unreachable',
  'no_capacity',
  'pool_full',
])

function noteFailure(tx: Tx, backupId: string, error: ExplainedFailure | undefined, now: number) {
  const backup = backupById(tx, backupId)
  if (!backup || !error || ofOthers.has(error.code)) return
  const words = error.cause
  changeBackup(tx, backupId, { drilledAt: now, drillError: words })
  const { serverId, serverName, ownerId, drillJobId } = backup
  keepDrillFailure(tx, { serverId, serverName, ownerId, backupId, jobId: drillJobId!, words, failedAt: now })
  if (backup.planId) noteDrillOfPlan(tx, backup.planId, { drilledAt: now })
}

function noteProof(tx: Tx, backupId: string, { proof, at, now }: { proof: DrillProof; at: number; now: number }) {
  const backup = backupById(tx, backupId)
  if (!backup) return
  const seconds = (now - at) / 1000
  changeBackup(tx, backupId, { drilledAt: now, drillError: null, provenAt: now, proof, proofSeconds: seconds })
  const { serverId, serverName, planId } = backup
  forgetDrillFailure(tx, serverId)
  noteNight(tx, { proven: { backupId, serverId, serverName, at: now, seconds } })
  if (planId) noteDrillOfPlan(tx, planId, { drilledAt: now, provenAt: now })
}

export const drilling = saga<Drilling>('drill', {
  title: 'Restore drill',
  forStaff: true,
  lane: 'bulk',
  cancelWith: 'servers:settings',
})
  .record('plan', 'Planning', {
    do: (tx, { input, now }) => plan(tx, input, now),
    undo: (tx, { input, error, now }) => noteFailure(tx, input.backupId, error, now),
    undoAtOnce: true,
  })
  .record('hold', 'Holding memory and disk for it', {
    do(tx, { input: { drillId, nodeId, backupId }, out: { plan } }) {
      const { diskGb } = backupById(tx, backupId)!
      holdForGuest(tx, { id: drillId, nodeId, pool: plan.volume.pool, memoryMb: plan.memoryMb, diskGb })
    },
    undo: (tx, { input }) => releaseGuest(tx, input.drillId),
  })
  .command('disk', ...readDisk(({ volume }: Plan) => volume))
  .command('start', 'Starting it without network', {
    do: ({ input: { nodeId, drillId }, out: { plan } }) =>
      nodeCommand(nodeId, 'drill.start', {
        workload: drillId,
        vcpus: 1,
        memoryMb: plan.memoryMb,
        volume: plan.volume,
        hardware: plan.hardware,
      }),
    undo: ({ input }) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.drillId }),
  })
  .command('prove', 'Waiting until its system answers', {
    abandonable: true,
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'drill.await', { workload: input.drillId, limitSeconds: LIMIT_SECONDS }),
  })
  .command('off', 'Removing the machine', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.drillId }),
  })
  .command('delete', 'Deleting its disk', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'volume.remove', out.plan.volume),
  })
  // The last step: nothing can fail after it.
  .record('note', 'Recording the proof', {
    do(tx, { input: { backupId, drillId }, out: { plan, prove }, now, log }) {
      releaseGuest(tx, drillId)
      if (prove.proof === 'disk')
        log('A weak proof: it runs and reads its disk, but shows neither a guest agent nor a serial line.', 'warning')
      noteProof(tx, backupId, { proof: prove.proof, at: plan.at, now })
    },
  })
