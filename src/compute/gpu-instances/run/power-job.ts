// The jobs that start, stop or restart a GPU instance.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { type NewJob, startJob } from '../../../kernel/jobs/start.ts'
import { type GpuInstance, instanceJob, load } from '../model.ts'
import { mustAllowFor } from '../state.ts'
import { GRACE_SECONDS, runningInstance } from './run.ts'
import { noteStopped } from './state-changes.ts'

export const titles = { start: 'Start', stop: 'Stop', restart: 'Restart' } as const
export type PowerAction = keyof typeof titles

/** Starts the job and answers its id. Throws what the state of the instance refuses, and `gpu_instance_busy`. */
export function changePower(
  tx: Tx,
  target: GpuInstance,
  action: PowerAction,
  deed: Pick<NewJob, 'by' | 'now' | 'parentId'>,
) {
  mustAllowFor(tx, deed.by, target, action)
  const about = { ...deed, title: `${titles[action]} ${target.name}` }
  if (action === 'stop') return stopInstance(tx, target, about)
  const input = { instanceId: target.id, nodeId: target.nodeId, action }
  return startJob(tx, runningInstance, input, instanceJob(target, about))
}

/** Stops one that its state allows to stop, as a requested stop. Answers the job's id. Throws `gpu_instance_busy`. */
export const stopInstance = (
  tx: Tx,
  target: Pick<GpuInstance, 'id' | 'nodeId'>,
  about: Pick<NewJob, 'by' | 'title' | 'now' | 'parentId'>,
): string =>
  startJob(tx, stoppingInstance, { instanceId: target.id, nodeId: target.nodeId }, instanceJob(target, about))

export const stoppingInstance = saga<{ instanceId: string; nodeId: string }>('gpu_stop', {
  title: 'GPU instance stop',
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
