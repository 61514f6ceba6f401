import { Type as t } from 'typebox'
import { imagesOf } from '../../../catalog/gpu-offers/model.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { invalid } from '../../../kernel/api/errors.ts'
import { described, fields, operation } from '../../../kernel/api/operation.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { gpuInstance, instanceJob, jobResponse } from '../model.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'
import { runningInstance } from './run.ts'

export const rebuildInstance = operation({
  id: 'gpu-instances.rebuild',
  method: 'POST',
  path: '/gpu-instances/{id}/actions/rebuild',
  summary: 'Make a GPU instance anew from an image and start it: /workspace stays, everything else in it is lost',
  past: 'Rebuilt',
  access: everybody('servers:reinstall'),
  on: gpuInstance,
  body: fields({
    imageId: described(
      t.String({ minLength: 1, maxLength: 40 }),
      'An image of its offer that is on sale, also its present one.',
    ),
  }),
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('rebuild'), 'gpu_instance_busy'],
  example: { imageId: '<gpu_image_id>' },
  run({ tx, actor, target, body, clock }) {
    const image = imagesOf(tx, target.offerId).find(({ id }) => id === body.imageId)
    if (!image)
      throw invalid({
        field: 'imageId',
        message: 'is not an image of its offer that is on sale. Choose another image.',
      })
    mustAllowFor(tx, actor, target, 'rebuild')
    const about = instanceJob(target, { by: actor, title: `Rebuild ${target.name} from ${image.name}`, now: clock() })
    const input = { instanceId: target.id, nodeId: target.nodeId, action: 'rebuild' as const, imageId: image.id }
    return { jobId: startJob(tx, runningInstance, input, about), instanceId: target.id }
  },
})
