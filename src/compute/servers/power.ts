import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { fields, operation } from '../../kernel/api/operation.ts'
import { jobResponse, server } from '../server-records/model.ts'
import { changePower, type PowerAction, titles } from './power-job.ts'
import { refusalsOf } from './states.ts'

export const powerServer = operation({
  id: 'servers.power',
  method: 'POST',
  path: '/servers/{id}/actions/power',
  summary: 'Start, shut down, force off or restart',
  past: 'Changed the power',
  access: everybody('servers:power'),
  allowedInSupportSession: true,
  on: server,
  body: fields({ action: t.Enum(Object.keys(titles) as PowerAction[]) }),
  actionWords: titles,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('start', 'shutdown', 'off', 'restart'), 'server_busy'],
  example: { action: 'restart' },
  run({ tx, actor, target, body, clock }) {
    const action = body.action as PowerAction
    return { jobId: changePower(tx, target, action, { by: actor, now: clock() }), serverId: target.id }
  },
})
