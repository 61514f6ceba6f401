// The node of a server is told at once. The order takes the policy from the package; each server may have its own.
import { nodeCommand, type RestartPolicy } from '../../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { restartPolicyWords } from '../../../fleet/workloads/restart-policy.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { jobDetailResponse, serverJob } from '../../server-records/model.ts'
import { settingRestartPolicyOf } from '../../workloads/restart-policy.ts'
import { actingServer } from '../states.ts'

export const setRestartPolicy = settingRestartPolicyOf(actingServer, {
  summary: 'Choose what happens when a server stops by itself: it is started again always, after a crash, or never',
  answer: jobDetailResponse,
  refuses: ['server_busy'],
  tell({ tx, actor, target, body: { restartPolicy }, clock }) {
    // Nothing is installed: the installation tells the node.
    if (target.status === 'pending_setup') return null
    const input = { serverId: target.id, nodeId: target.nodeId, restartPolicy, before: target.restartPolicy }
    const title = `Restart policy of ${target.hostname}: ${restartPolicyWords[restartPolicy].toLowerCase()}`
    return startJob(tx, settingRestartPolicy, input, serverJob(target, { by: actor, title, now: clock() }))
  },
})

type Input = { serverId: string; nodeId: string; restartPolicy: RestartPolicy; before: RestartPolicy }
const tellNode = ({ serverId, nodeId }: Input, restartPolicy: RestartPolicy) =>
  nodeCommand(nodeId, 'vm.set-restart-policy', { workload: serverId, restartPolicy })

export const settingRestartPolicy = saga<Input>('restart_policy', {
  title: 'Restart policy change',
  cancelWith: 'servers:settings',
})
  .command('tell', 'Telling its node', {
    do: ({ input }) => tellNode(input, input.restartPolicy),
    undo: ({ input }) => tellNode(input, input.before),
  })
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId, restartPolicy } }) => changeWorkload(tx, serverId, { restartPolicy }),
  })
