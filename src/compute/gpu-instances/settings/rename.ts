import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { fields, operation } from '../../../kernel/api/operation.ts'
import { displayName } from '../../servers/install/order.ts'
import { changeResponse, gpuInstance } from '../model.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'

export const renameInstance = operation({
  id: 'gpu-instances.rename',
  method: 'PATCH',
  path: '/gpu-instances/{id}',
  summary: 'Rename a GPU instance',
  access: everybody('servers:settings'),
  allowedInSupportSession: true,
  on: gpuInstance,
  body: fields({ name: displayName }),
  response: changeResponse,
  refuses: refusalsOf('rename'),
  example: { name: 'Training' },
  run({ tx, actor, target, body }) {
    mustAllowFor(tx, actor, target, 'rename')
    changeWorkload(tx, target.id, { name: body.name })
    return { instanceId: target.id }
  },
})
