import { Type as t } from 'typebox'
import { everybody } from '../../../kernel/api/access.ts'
import { fields, operation } from '../../../kernel/api/operation.ts'
import { gpuInstance, jobResponse } from '../model.ts'
import { refusalsOf } from '../state.ts'
import { changePower, type PowerAction, titles } from './power-job.ts'

export const powerInstance = operation({
  id: 'gpu-instances.power',
  method: 'POST',
  path: '/gpu-instances/{id}/actions/power',
  summary: 'Start, stop or restart a GPU instance; a stopped one keeps its cards, ports and address',
  access: everybody('servers:power'),
  allowedInSupportSession: true,
  on: gpuInstance,
  body: fields({ action: t.Enum(Object.keys(titles) as PowerAction[]) }),
  past: 'Changed the power',
  actionWords: titles,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('start', 'stop', 'restart'), 'gpu_instance_busy'],
  example: { action: 'restart' },
  run({ tx, actor, target, body, clock }) {
    const action = body.action as PowerAction
    return { jobId: changePower(tx, target, action, { by: actor, now: clock() }), instanceId: target.id }
  },
})
