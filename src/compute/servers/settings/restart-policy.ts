// The restart policy of a server: its node follows it when the server ends although nobody stopped it. The order takes
// it from the package; each server may have its own.
import { nodeCommand, RestartPolicy } from '../../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { restartPolicyWords } from '../../../fleet/workloads/restart-policy.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { fields, operation } from '../../../kernel/api/operation.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { jobResponse, server, serverJob } from '../model.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'

export const setRestartPolicy = operation({
  id: 'servers.restart-policy',
  method: 'PUT',
  path: '/servers/{id}/restart-policy',
  summary: 'Choose what happens when a server stops by itself: it is started again always, after a crash, or never',
  access: everybody('servers:settings'),
  on: server,
  body: fields({ restartPolicy: RestartPolicy }),
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('restart_policy'), 'server_busy'],
  example: { restartPolicy: 'always' },
  run({ tx, actor, target, body: { restartPolicy }, clock }) {
    mustAllowFor(tx, actor, target, 'restart_policy')
    if (restartPolicy === target.restartPolicy) return { jobId: null, serverId: target.id }
    // Nothing is installed: the installation tells the node.
    if (target.status === 'pending_setup') {
      changeWorkload(tx, target.id, { restartPolicy })
      return { jobId: null, serverId: target.id }
    }
    const input = { serverId: target.id, nodeId: target.nodeId, restartPolicy, before: target.restartPolicy }
    const title = `Restart policy of ${target.hostname}: ${restartPolicyWords[restartPolicy].toLowerCase()}`
    return {
      jobId: startJob(tx, settingRestartPolicy, input, serverJob(target, { by: actor, title, now: clock() })),
      serverId: target.id,
    }
  },
})

type Input = { serverId: string; nodeId: string; restartPolicy: RestartPolicy; before: RestartPolicy }
const tellNode = ({ serverId, nodeId }: Input, restartPolicy: RestartPolicy) =>
  nodeCommand(nodeId, 'vm.set-restart-policy', { workload: serverId, restartPolicy })

export const settingRestartPolicy = saga<Input>('restart_policy', { cancelWith: 'servers:settings' })
  .command('tell', 'Telling its node', {
    do: ({ input }) => tellNode(input, input.restartPolicy),
    undo: ({ input }) => tellNode(input, input.before),
  })
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId, restartPolicy } }) => changeWorkload(tx, serverId, { restartPolicy }),
  })
