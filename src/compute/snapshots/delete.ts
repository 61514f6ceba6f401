// Deleting a snapshot. The layer above it is written into its own, which then has that layer's place; one on which
// nothing stands is deleted as it is.

import { nodeCommand, type Vm } from '../../../agent/protocol/wire.ts'
import { changeSpare } from '../../fleet/workloads/stays/stays.ts'
import { everybody } from '../../kernel/api/access.ts'
import { operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { forwardSaga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { diskJob } from '../server-records/disk-lock.ts'
import { jobResponse, load, server } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { deleteSnapshot, moveLayers, noteUsed, snapshotById } from '../snapshot-records/queries.ts'
import { mustBeDeletable, snapshotIn, standingOn } from './model.ts'
import { snapshotActions } from './states.ts'
import { atLayers } from './take.ts'

export const removeSnapshot = operation({
  id: 'snapshots.remove',
  destroys: [],
  method: 'DELETE',
  path: '/servers/{id}/snapshots/{snapshotId}',
  summary: 'Delete a snapshot; the disk and the other snapshots stay as they are',
  access: everybody('servers:settings'),
  requiresRecentAuth: true,
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...snapshotActions.refusalsOf('delete_snapshot'), 'server_busy', 'snapshot_not_found', 'snapshot_in_use'],
  run({ tx, actor, target, params, clock }) {
    const snapshot = snapshotIn(tx, target, params['snapshotId'])
    mustBeDeletable(tx, actor, target, snapshot)
    const input = { serverId: target.id, nodeId: target.nodeId, snapshotId: snapshot.id }
    const title = `Delete the snapshot ${snapshot.name} of ${target.hostname}`
    return {
      jobId: startJob(tx, deletingSnapshot, input, diskJob(target, { by: actor, title, now: clock() })),
      serverId: target.id,
    }
  },
})

type Deleting = { serverId: string; nodeId: string; snapshotId: string }
/** `above`: the layer that is written into that of the snapshot, and whether it is the one that the server writes. */
type Plan = { vm: Vm; layer: number; parent: number | null; above: { layer: number; isDisk: boolean } | null }

function plan(tx: Tx, { serverId, snapshotId }: Deleting): Plan {
  const target = load(tx, serverId)
  const snapshot = snapshotById(tx, snapshotId)!
  const layer = snapshot.layer!
  const [one] = standingOn(tx, target, snapshot)
  const above =
    one === undefined
      ? null
      : one === 'disk'
        ? { layer: target.diskLayer, isDisk: true }
        : { layer: one.layer!, isDisk: false }
  const { after: vm } = atLayers(tx, target, above?.isDisk ? layer : target.diskLayer)
  return { vm, layer, parent: snapshot.parent, above }
}

/** A merge has no way back, and a node that has merged must be recorded as it is: it comes to its end in any case. */
export const deletingSnapshot = forwardSaga<Deleting>('delete_snapshot', {
  title: 'Snapshot deletion',
  neverStops: true,
})
  .record('plan', 'Planning', { do: (tx, { input }) => plan(tx, input) })
  .command('delete', 'Deleting its layer, which has nothing above it', {
    do: ({ input, out: { plan } }) =>
      plan.above
        ? undefined
        : nodeCommand(input.nodeId, 'volume.remove-layer', { volume: plan.vm.volume, layer: plan.layer }),
  })
  .command('merge', 'Writing the layer above it into its own', {
    do: ({ input, out: { plan } }) =>
      plan.above
        ? nodeCommand(input.nodeId, 'volume.merge', { vm: plan.vm, from: plan.above.layer, into: plan.layer })
        : undefined,
  })
  .record('note', 'Releasing its space', {
    do: (tx, { input: { serverId, snapshotId }, out }) => {
      const snapshot = snapshotById(tx, snapshotId)
      if (!snapshot) return
      const { layer, parent, above } = out.plan
      deleteSnapshot(tx, snapshotId)
      changeSpare(tx, serverId, -snapshot.diskGb)
      if (!above) return
      const { diskParent } = load(tx, serverId)
      // Layers that stood on the one above stand on this one now, which has its content.
      moveLayers(tx, serverId, above.layer, { layer, parent })
      if (above.isDisk) updateServer(tx, serverId, { diskLayer: layer, diskParent: parent })
      else if (diskParent === above.layer) updateServer(tx, serverId, { diskParent: layer })
      // The node of a removed machine answers nothing.
      if (!above.isDisk && out.merge) noteUsed(tx, serverId, layer, out.merge.usedBytes)
    },
  })
