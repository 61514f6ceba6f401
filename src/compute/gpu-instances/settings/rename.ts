import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { fields, operation } from '../../../kernel/api/operation.ts'
import { displayName } from '../../servers/install/order.ts'
import { gpuInstance, load } from '../model.ts'
import { instanceResponse } from '../record.ts'
import { showInstance } from '../show.ts'
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
  response: instanceResponse,
  refuses: refusalsOf('rename'),
  example: { name: 'Training' },
  run(call) {
    const { tx, actor, target, body } = call
    mustAllowFor(tx, actor, target, 'rename')
    changeWorkload(tx, target.id, { name: body.name })
    return showInstance(call, load(tx, target.id))
  },
})
