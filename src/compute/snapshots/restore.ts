// Going back to a snapshot: the server writes a new layer on it. The one that it wrote before is deleted, and all
// snapshots stay.
import { nodeCommand, type Vm, type Volume } from '../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { system } from '../../kernel/api/actor.ts'
import { operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { forwardSaga, saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { startDestroying } from '../brake/brake.ts'
import { diskJob } from '../server-records/disk-lock.ts'
import { jobResponse, load, server } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { GIB } from '../server-vm/definition.ts'
import { defineAfter, isOn, lookAtPower, shutDown, startAgain } from '../server-vm/steps.ts'
import { snapshotById } from '../snapshot-records/queries.ts'
import { mustBeRestorable, snapshotIn } from './model.ts'
import { snapshotActions } from './states.ts'
import { atLayers, takeLayer } from './take.ts'

/** Seconds for its system to shut down. It comes back only if the job fails. */
const GRACE_SECONDS = 20

export const restoreSnapshot = operation({
  id: 'snapshots.restore',
  destroys: ['disks'],
  method: 'POST',
  path: '/servers/{id}/snapshots/{snapshotId}/actions/restore',
  summary: 'Bring the disk of a server back to a snapshot; everything written since is lost',
  past: 'Restored a snapshot',
  access: everybody('servers:reinstall'),
  requiresRecentAuth: true,
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...snapshotActions.refusalsOf('restore_snapshot'), 'server_busy', 'snapshot_not_found'],
  run({ tx, actor, target, params, clock }) {
    const snapshot = snapshotIn(tx, target, params['snapshotId'])
    mustBeRestorable(tx, actor, target, snapshot)
    const input = { serverId: target.id, nodeId: target.nodeId, snapshotId: snapshot.id }
    const title = `Restore ${target.hostname} to the snapshot ${snapshot.name}`
    const job = diskJob(target, { by: actor, title, now: clock() })
    return { jobId: startDestroying(tx, restoringSnapshot, input, 'restore', job), serverId: target.id }
  },
})

type Restoring = { serverId: string; nodeId: string; snapshotId: string }
type Plan = { before: Vm; after: Vm; from: number; left: number; layer: number; sizeBytes: number }

function plan(tx: Tx, { serverId, snapshotId }: Restoring): Plan {
  const target = load(tx, serverId)
  const layer = takeLayer(tx, target)
  const from = snapshotById(tx, snapshotId)!.layer!
  // A disk that grew since stays as large as it is.
  const sizeBytes = target.diskGb * GIB
  return { ...atLayers(tx, target, layer), from, left: target.diskLayer, layer, sizeBytes }
}

export const restoringSnapshot = saga<Restoring>('restore_snapshot', {
  title: 'Snapshot restore',
  cancelWith: 'servers:reinstall',
})
  .record('plan', 'Planning', { do: (tx, { input }) => plan(tx, input) })
  .command('look', ...lookAtPower)
  .command('layer', 'Making a disk from the snapshot', {
    do: ({ input, out: { plan } }) =>
      nodeCommand(input.nodeId, 'volume.fork', {
        volume: plan.after.volume,
        from: plan.from,
        sizeBytes: plan.sizeBytes,
      }),
    undo: ({ input, out: { plan } }) =>
      nodeCommand(input.nodeId, 'volume.remove-layer', { volume: plan.before.volume, layer: plan.layer }),
  })
  .command('stop', 'Shutting it down', shutDown(GRACE_SECONDS))
  .command('define', 'Putting the disk of the snapshot into place', defineAfter)
  .command('start', 'Starting it, if it ran', startAgain)
  .pivot('switch', 'Giving up what was written since', {
    losesData: true,
    do: (tx, { input: { serverId, nodeId }, out: { plan, look }, now }) => {
      updateServer(tx, serverId, { diskLayer: plan.layer, diskParent: plan.from })
      const power = isOn(look.power) ? 'running' : 'stopped'
      changeWorkload(tx, serverId, { power, wantedPower: power })
      dropLayer(tx, { serverId, nodeId, volume: plan.after.volume, layer: plan.left }, now)
      return { switched: true }
    },
  })

type Dropping = { serverId: string; nodeId: string; volume: Volume; layer: number }
function dropLayer(tx: Tx, input: Dropping, now: number) {
  const { serverId, nodeId } = input
  const title = `Delete what ${load(tx, serverId).hostname} wrote since its snapshot`
  startJob(tx, droppingLayer, input, { by: system, title, nodeId, subject: { type: 'server', id: serverId }, now })
}

/** Deletes a layer that nothing uses any more, beside other jobs of the server. */
export const droppingLayer = forwardSaga<Dropping>('remove_layer', { title: 'Snapshot clean-up' }).command(
  'delete',
  'Deleting what was written since',
  {
    do: ({ input: { nodeId, volume, layer } }) => nodeCommand(nodeId, 'volume.remove-layer', { volume, layer }),
  },
)
