import { RestartPolicy } from '../../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { fields, operation } from '../../../kernel/api/operation.ts'
import { changeResponse, gpuInstance } from '../model.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'

export const setInstanceRestartPolicy = operation({
  id: 'gpu-instances.restart-policy',
  method: 'PUT',
  path: '/gpu-instances/{id}/restart-policy',
  summary:
    'Choose what happens when a GPU instance ends by itself: it is started again always, after a crash, or never; in ' +
    'force from its next start',
  access: everybody('servers:settings'),
  on: gpuInstance,
  body: fields({ restartPolicy: RestartPolicy }),
  response: changeResponse,
  refuses: refusalsOf('restart_policy'),
  example: { restartPolicy: 'always' },
  run({ tx, actor, target, body }) {
    mustAllowFor(tx, actor, target, 'restart_policy')
    changeWorkload(tx, target.id, { restartPolicy: body.restartPolicy })
    return { instanceId: target.id }
  },
})
