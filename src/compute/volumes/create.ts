// A new volume: empty, on the machine of the server for which it is made, and attached to that.

import { Type as t } from 'typebox'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { formatIn, poolSpaceOf } from '../../fleet/storage-pools/queries.ts'
import {
  changeVolume,
  deleteVolumeRow,
  insertVolume,
  noteVolumeUse,
  volumeById,
} from '../../fleet/volume-records/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { named } from '../../kernel/api/named.ts'
import { fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { load, server, serverJob } from '../server-records/model.ts'
import { GIB } from '../server-vm/definition.ts'
import { mustBeAllowed, mustBeOwn, mustHavePort, nameField, onNode, poolFor, sizeField, tell } from './model.ts'
import { volumeActions } from './states.ts'

export const createVolume = operation({
  id: 'volumes.create',
  method: 'POST',
  path: '/servers/{id}/volumes',
  summary: 'Make an extra volume and attach it to a server; it is empty, and the server may run',
  past: 'Created a volume',
  access: everybody('servers:settings'),
  on: server,
  body: fields({ name: nameField, sizeGb: sizeField }),
  response: namedSchema('VolumeStarted', { jobId: t.String(), serverId: t.String(), volumeId: t.String() }),
  status: 201,
  idempotent: true,
  refuses: [
    ...volumeActions.refusalsOf('volume'),
    'server_busy',
    'limit_reached',
    'no_capacity',
    'name_taken',
    'reseller_suspended',
    'quota_exceeded',
  ],
  example: { name: 'data', sizeGb: 50 },
  run({ tx, actor, target, body: { name, sizeGb }, clock }) {
    mustBeOwn(tx, actor, target)
    volumeActions.mustAllowFor(tx, actor, target, 'volume')
    mustHavePort(tx, target)
    const now = clock()
    mustBeAllowed(tx, now, target.ownerId, sizeGb)
    const pool = poolFor(tx, target, sizeGb)
    const { ownerId, resellerId, nodeId, locationId } = target
    const volumeId = newId('vol')
    named('volume', () =>
      insertVolume(tx, {
        id: volumeId,
        ownerId,
        resellerId,
        nodeId,
        locationId,
        pool: pool.name,
        format: formatIn(pool),
        name,
        sizeGb,
        heldGb: sizeGb,
        state: 'creating',
        lastServerId: target.id,
        createdAt: now,
      }),
    )
    const about = serverJob(target, { by: actor, title: `Create volume ${name} for ${target.hostname}`, now })
    const jobId = startJob(tx, creatingVolume, { volumeId, serverId: target.id, nodeId }, about)
    changeVolume(tx, volumeId, { jobId })
    return { jobId, serverId: target.id, volumeId }
  },
})

type Creating = { volumeId: string; serverId: string; nodeId: string }

export const creatingVolume = saga<Creating>('create_volume', {
  title: 'Volume creation',
  cancelWith: 'servers:settings',
})
  .record('plan', 'Holding space for it', {
    do: (tx, { input }) => {
      const volume = volumeById(tx, input.volumeId)!
      return { volume: onNode(volume), sizeBytes: volume.sizeGb * GIB }
    },
    undo: (tx, { input }) => deleteVolumeRow(tx, input.volumeId),
  })
  .command('make', 'Making the volume', {
    do: ({ input, out: { plan } }) => nodeCommand(input.nodeId, 'volume.make', plan),
    undo: ({ input, out: { plan } }) => nodeCommand(input.nodeId, 'volume.remove', plan.volume),
  })
  .command('attach', 'Attaching it', {
    do: ({ input: { nodeId, serverId }, out: { plan } }) =>
      nodeCommand(nodeId, 'volume.attach', { workload: serverId, volume: plan.volume }),
    undo: ({ input: { nodeId, serverId }, out: { plan } }) =>
      nodeCommand(nodeId, 'volume.detach', { workload: serverId, volume: plan.volume }),
  })
  // The last step: nothing can fail after it.
  .record('note', 'Recording it', {
    do: (tx, { input: { volumeId, serverId }, now }) => {
      if (load(tx, serverId).lifecycle === 'terminated')
        throw new ApiError('server_terminated', 'The server was terminated meanwhile.')
      changeVolume(tx, volumeId, { state: 'ready', serverId, jobId: null })
      const made = volumeById(tx, volumeId)!
      noteVolumeUse(tx, volumeId, poolSpaceOf(tx, made)?.class ?? null, now)
      tell(tx, now, 'volume.created', made)
    },
  })
