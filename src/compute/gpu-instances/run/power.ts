import { Type as t } from 'typebox'
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { fields, operation } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { type NewJob, startJob } from '../../../kernel/jobs/start.ts'
import { type GpuInstance, gpuInstance, instanceJob, jobResponse, load } from '../model.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'
import { GRACE_SECONDS, runningInstance } from './run.ts'
import { noteStopped } from './state-changes.ts'

const titles = { start: 'Start', stop: 'Stop', restart: 'Restart' } as const
export type PowerAction = keyof typeof titles

export const powerInstance = operation({
  id: 'gpu-instances.power',
  method: 'POST',
  path: '/gpu-instances/{id}/actions/power',
  summary: 'Start, stop or restart a GPU instance; a stopped one keeps its cards, ports and address',
  access: everybody('servers:power'),
  allowedInSupportSession: true,
  on: gpuInstance,
  body: fields({ action: t.Enum(Object.keys(titles) as PowerAction[]) }),
  actionWords: titles,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('start', 'stop', 'restart'), 'gpu_instance_busy'],
  example: { action: 'restart' },
  run({ tx, actor, target, body, clock }) {
    const action = body.action as PowerAction
    mustAllowFor(tx, actor, target, action)
    const about = { by: actor, title: `${titles[action]} ${target.name}`, now: clock() }
    const input = { instanceId: target.id, nodeId: target.nodeId }
    const jobId =
      action === 'stop'
        ? stopInstance(tx, target, about)
        : startJob(tx, runningInstance, { ...input, action }, instanceJob(target, about))
    return { jobId, instanceId: target.id }
  },
})

/** Stops one that its state allows to stop, as a requested stop. Answers the job's id. Throws `gpu_instance_busy`. */
export const stopInstance = (
  tx: Tx,
  target: Pick<GpuInstance, 'id' | 'nodeId'>,
  about: Pick<NewJob, 'by' | 'title' | 'now'>,
): string =>
  startJob(tx, stoppingInstance, { instanceId: target.id, nodeId: target.nodeId }, instanceJob(target, about))

export const stoppingInstance = saga<{ instanceId: string; nodeId: string }>('gpu_stop', {
  cancelWith: 'servers:power',
  retry: () => 'stop',
})
  .command('stop', 'Stopping it', {
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'container.stop', { workload: input.instanceId, graceSeconds: GRACE_SECONDS }),
  })
  .record('note', 'Recording its state', {
    do: (tx, { input: { instanceId }, now }) => {
      changeWorkload(tx, instanceId, { power: 'stopped', wantedPower: 'stopped' })
      if (load(tx, instanceId).spell === 'running') noteStopped(tx, instanceId, { now, reason: 'requested' })
    },
  })
