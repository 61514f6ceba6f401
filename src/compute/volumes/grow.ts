import { Type as t } from 'typebox'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { poolSpaceOf } from '../../fleet/storage-pools/queries.ts'
import { changeVolume, noteVolumeUse, volumeById } from '../../fleet/volume-records/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { fields, namedSchema, operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { exactGb } from '../../kernel/words.ts'
import { load } from '../server-records/model.ts'
import { GIB } from '../server-vm/definition.ts'
import {
  mustBeAllowed,
  mustBeChangeable,
  mustHaveSpaceToGrow,
  onNode,
  sizeField,
  tell,
  volume,
  volumeJob,
} from './model.ts'
import { volumeActions } from './states.ts'

export const growVolume = operation({
  id: 'volumes.grow',
  method: 'POST',
  path: '/volumes/{id}/actions/grow',
  summary: 'Enlarge an extra volume, also under a running server; it never shrinks',
  past: 'Enlarged a volume',
  access: everybody('servers:settings'),
  on: volume,
  body: fields({ sizeGb: sizeField }),
  response: namedSchema('VolumeGrows', { jobId: t.String(), volumeId: t.String() }),
  status: 202,
  idempotent: true,
  refuses: [
    ...volumeActions.refusalsOf('volume'),
    'account_locked',
    'volume_busy',
    'volume_lost',
    'limit_reached',
    'no_capacity',
    'reseller_suspended',
    'quota_exceeded',
  ],
  example: { sizeGb: 100 },
  run({ tx, actor, target, body: { sizeGb }, clock }) {
    const { id: volumeId, nodeId, name } = target
    if (sizeGb <= target.sizeGb)
      throw invalid({ field: 'sizeGb', message: `must be more than the ${exactGb(target.sizeGb)} that it has.` })
    mustBeChangeable(tx, actor, target)
    if (target.serverId !== null) volumeActions.mustAllowFor(tx, actor, load(tx, target.serverId), 'volume')
    const now = clock()
    mustBeAllowed(tx, now, target.ownerId, sizeGb - target.sizeGb)
    mustHaveSpaceToGrow(tx, target, sizeGb - target.sizeGb)
    const about = volumeJob(tx, target, { by: actor, title: `Enlarge volume ${name} to ${exactGb(sizeGb)}`, now })
    const jobId = startJob(tx, growingVolume, { volumeId, nodeId, sizeGb }, about)
    changeVolume(tx, volumeId, { jobId, heldGb: sizeGb })
    return { jobId, volumeId }
  },
})

type Growing = { volumeId: string; nodeId: string; sizeGb: number }

export const growingVolume = saga<Growing>('grow_volume', {
  title: 'Volume enlargement',
  cancelWith: 'servers:settings',
  neverStops: true,
})
  .record('plan', 'Holding space for it', {
    do: (tx, { input }) => ({ volume: onNode(volumeById(tx, input.volumeId)!) }),
    undo: (tx, { input }) => {
      // Its record is deleted at once where its node is gone.
      if (volumeById(tx, input.volumeId))
        changeVolume(tx, input.volumeId, { heldGb: volumeById(tx, input.volumeId)!.sizeGb, jobId: null })
    },
  })
  // A disk cannot shrink.
  .pivotCommand('grow', 'Enlarging it', {
    do: ({ input, out }) =>
      nodeCommand(input.nodeId, 'volume.grow', { volume: out.plan.volume, sizeBytes: input.sizeGb * GIB }),
  })
  .record('note', 'Recording its size', { do: (tx, { input, now }) => grown(tx, input, now) })

function grown(tx: Tx, { volumeId, sizeGb }: Growing, now: number) {
  changeVolume(tx, volumeId, { sizeGb, heldGb: sizeGb, jobId: null })
  const volume = volumeById(tx, volumeId)
  // Its record is deleted at once where its node is gone.
  if (!volume) return
  noteVolumeUse(tx, volumeId, poolSpaceOf(tx, volume)?.class ?? null, now)
  tell(tx, now, 'volume.resized', volume)
}
