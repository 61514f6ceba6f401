// Taking a snapshot: the layer that the server writes becomes the snapshot, and the server writes the next one.

import { Type as t } from 'typebox'
import { nodeCommand, type Vm } from '../../../agent/protocol/wire.ts'
import { changeSpare } from '../../fleet/workloads/stays/stays.ts'
import { everybody } from '../../kernel/api/access.ts'
import { idOf, nameOf } from '../../kernel/api/actor.ts'
import { named } from '../../kernel/api/named.ts'
import { fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { diskJob } from '../server-records/disk-lock.ts'
import { load, type Server, server } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'
import { vmOf, volumeOf } from '../server-vm/definition.ts'
import { changeSnapshot, deleteSnapshot, insertSnapshot, snapshotById } from '../snapshot-records/queries.ts'
import { commentField, mustBeTakeable, nameField } from './model.ts'
import { snapshotActions } from './states.ts'

export const takeSnapshot = operation({
  id: 'snapshots.create',
  method: 'POST',
  path: '/servers/{id}/snapshots',
  summary: 'Take a snapshot of the disk of a server; it may run',
  past: 'Took a snapshot',
  access: everybody('servers:settings'),
  on: server,
  body: fields({ name: nameField, comment: t.Optional(commentField) }),
  response: namedSchema('SnapshotStarted', { jobId: t.String(), serverId: t.String(), snapshotId: t.String() }),
  status: 201,
  idempotent: true,
  refuses: [...snapshotActions.refusalsOf('snapshot'), 'server_busy', 'snapshot_limit', 'no_capacity', 'name_taken'],
  example: { name: 'before-update', comment: 'PHP 8.3' },
  run({ tx, actor, target, body: { name, comment = '' }, clock }) {
    mustBeTakeable(tx, actor, target)
    const now = clock()
    const { diskGb } = target
    const takenBy = { id: idOf(actor), name: nameOf(actor) }
    const snapshotId = newId('snp')
    named('snapshot', () =>
      insertSnapshot(tx, { id: snapshotId, serverId: target.id, name, comment, diskGb, takenBy, createdAt: now }),
    )
    const input = { serverId: target.id, nodeId: target.nodeId, snapshotId, diskGb }
    const title = `Take the snapshot ${name} of ${target.hostname}`
    const jobId = startJob(tx, takingSnapshot, input, diskJob(target, { by: actor, title, now }))
    // The job's first step can be undone even if it never began, and gives this back.
    changeSpare(tx, target.id, diskGb)
    return { jobId, serverId: target.id, snapshotId }
  },
})

type Taking = { serverId: string; nodeId: string; snapshotId: string; diskGb: number }
type Plan = { before: Vm; after: Vm; from: number; parent: number | null; layer: number }

/** The number of a new layer of the server's disk. */
export function takeLayer(tx: Tx, { id, lastDiskLayer }: Server): number {
  updateServer(tx, id, { lastDiskLayer: lastDiskLayer + 1 })
  return lastDiskLayer + 1
}

/** The definition of the server as it is, and with another layer of its disk. */
export function atLayers(tx: Tx, target: Server, diskLayer: number): { before: Vm; after: Vm } {
  const of = (server: Server) => vmOf(tx, server, volumeOf(server, server.diskGeneration!), false)
  return { before: of(target), after: of({ ...target, diskLayer }) }
}

function plan(tx: Tx, { serverId }: Taking): Plan {
  const target = load(tx, serverId)
  const layer = takeLayer(tx, target)
  return { ...atLayers(tx, target, layer), from: target.diskLayer, parent: target.diskParent, layer }
}

export const takingSnapshot = saga<Taking>('snapshot', { title: 'Snapshot', cancelWith: 'servers:settings' })
  .record('plan', 'Holding space for the snapshot', {
    do: (tx, { input }) => plan(tx, input),
    undo: (tx, { input: { serverId, snapshotId, diskGb } }) => {
      // A reinstallation or a termination that superseded it may have forgotten it.
      if (!snapshotById(tx, snapshotId)) return
      deleteSnapshot(tx, snapshotId)
      changeSpare(tx, serverId, -diskGb)
    },
  })
  .command('take', 'Taking the snapshot', {
    do: ({ input, out }) => nodeCommand(input.nodeId, 'volume.snapshot', { vm: out.plan.after, from: out.plan.from }),
    undo: ({ input, out }) =>
      nodeCommand(input.nodeId, 'volume.merge', { vm: out.plan.before, from: out.plan.layer, into: out.plan.from }),
  })
  // The last step: nothing can fail after it.
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId, snapshotId }, out: { plan, take }, log }) => {
      const { from, parent, layer } = plan
      changeSnapshot(tx, snapshotId, { layer: from, parent, ...take })
      updateServer(tx, serverId, { diskLayer: layer, diskParent: from })
      if (!take.consistent)
        log('The guest was not asked to write everything first: it starts from it as after a power failure.', 'warning')
    },
  })
