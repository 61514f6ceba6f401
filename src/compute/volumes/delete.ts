import { Type as t } from 'typebox'
import { nodeCommand, type Volume } from '../../../agent/protocol/wire.ts'
import { isGoneNode } from '../../fleet/node-records/queries.ts'
import { changeVolume, deleteVolumeRow, endVolumeUse, volumeById } from '../../fleet/volume-records/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { forwardSaga } from '../../kernel/jobs/saga.ts'
import { startDestroying } from '../brake/brake.ts'
import { load } from '../server-records/model.ts'
import { mustNotBeLockedFor, mustRest, onNode, tell, volume, volumeJob } from './model.ts'

export const removeVolume = operation({
  id: 'volumes.delete',
  destroys: ['disks'],
  method: 'DELETE',
  path: '/volumes/{id}',
  summary: 'Delete an extra volume that no server has; everything on it is lost at once',
  past: 'Deleted a volume',
  access: everybody('servers:reinstall'),
  requiresRecentAuth: true,
  on: volume,
  response: namedSchema('VolumeDeleted', {
    jobId: described(nullable(t.String()), 'Null: its machine was lost, so there is nothing to delete there.'),
    volumeId: t.String(),
  }),
  status: 202,
  idempotent: true,
  refuses: ['account_locked', 'volume_busy', 'volume_attached'],
  run({ tx, actor, target, clock }) {
    mustNotBeLockedFor(tx, actor, target)
    const { id: volumeId, nodeId, name, serverId } = target
    const now = clock()
    if (isGoneNode(tx, nodeId)) {
      endVolumeUse(tx, volumeId, now)
      tell(tx, now, 'volume.deleted', target)
      deleteVolumeRow(tx, volumeId)
      return { jobId: null, volumeId }
    }
    mustRest(target)
    if (serverId !== null)
      throw new ApiError('volume_attached', `${load(tx, serverId).hostname} has the volume ${name}. Detach it first.`)
    const about = volumeJob(tx, target, { by: actor, title: `Delete volume ${name}`, now })
    const input = { volumeId, nodeId, volume: onNode(target), askedAt: now }
    const disk = { id: volumeId, name, ownerId: target.ownerId }
    const destroyed = { kind: 'delete_volume', disk, serverId: target.lastServerId } as const
    const jobId = startDestroying(tx, deletingVolume, input, destroyed, about)
    changeVolume(tx, volumeId, { jobId, state: 'deleting' })
    return { jobId, volumeId }
  },
})

type Deleting = { volumeId: string; nodeId: string; volume: Volume; askedAt: number }

export const deletingVolume = forwardSaga<Deleting>('delete_volume', {
  title: 'Volume deletion',
  // The brake held it, and a second person refused it.
  unbegun: (tx, input: Deleting) => changeVolume(tx, input.volumeId, { jobId: null, state: 'ready' }),
})
  .record('end', 'Ending its use', {
    do: (tx, { input: { volumeId, askedAt }, now }) => {
      // Use ends with the call, as that of a server does; the space is held until the volume is deleted.
      endVolumeUse(tx, volumeId, askedAt)
      tell(tx, now, 'volume.deleted', volumeById(tx, volumeId)!)
    },
  })
  .command('delete', 'Deleting it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'volume.remove', input.volume),
  })
  .record('forget', 'Releasing its space', {
    do: (tx, { input }) => deleteVolumeRow(tx, input.volumeId),
  })
