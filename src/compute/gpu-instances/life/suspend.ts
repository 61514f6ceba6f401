// A suspended instance is stopped and keeps its cards.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { forwardSaga } from '../../../kernel/jobs/saga.ts'
import { cancelJobsHolding, type NewJob, startJob } from '../../../kernel/jobs/start.ts'
import { suspending, suspensionOf } from '../../workloads/suspend.ts'
import { type GpuInstance, instanceJob, jobDetailResponse, tell } from '../model.ts'
import { runningInstance, unsuspendingInstance } from '../run/run.ts'
import { noteEnded } from '../run/state-changes.ts'
import { actingInstance } from '../state.ts'

const SUSPEND_GRACE_SECONDS = 60

const suspension = suspensionOf<GpuInstance>(actingInstance, {
  keepOff: (tx, target, about) =>
    startJob(
      tx,
      suspendingInstance,
      { instanceId: target.id, nodeId: target.nodeId },
      { ...instanceJob(target, about), supersedes: true },
    ),
  restore: (tx, target, about) => goOn(tx, target, about),
  tell(tx, target, told) {
    if (told.type === 'unsuspended') return tell(tx, told.now, 'gpu_instance.unsuspended', target.id, {})
    if (target.spell === 'running') noteEnded(tx, target, { now: told.now, reason: 'requested' })
    tell(tx, told.now, 'gpu_instance.suspended', target.id, { reason: told.reason })
  },
})

export const {
  suspend: suspendInstance,
  unsuspend: unsuspendInstance,
  ask: askSuspension,
} = suspending(actingInstance, suspension, {
  path: (action) => `/admin/gpu-instances/{id}/${action}`,
  summaries: {
    suspend: 'Suspend a GPU instance: it is stopped and its owner kept out until it is unsuspended; it keeps its cards',
    unsuspend: 'Unsuspend a GPU instance: it runs again if it ran before',
  },
  answer: jobDetailResponse,
})

type Deed = Pick<NewJob, 'by' | 'title' | 'now' | 'parentId'>
export const suspendingInstance = forwardSaga<{ instanceId: string; nodeId: string }>('gpu_suspend', {
  title: 'GPU instance suspension',
})
  .command('stop', 'Stopping it', {
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'container.stop', { workload: input.instanceId, graceSeconds: SUSPEND_GRACE_SECONDS }),
  })
  // The wanted power stays: unsuspending restores it.
  .record('note', 'Recording its state', {
    do: (tx, { input }) => changeWorkload(tx, input.instanceId, { power: 'stopped' }),
  })

/**
 * Starts one that is not kept off any more, if it should run; goes on with the setup that its suspension stopped.
 * Answers the job's id; null where there is nothing to start.
 */
export function goOn(
  tx: Tx,
  target: Pick<GpuInstance, 'id' | 'nodeId' | 'lifecycle' | 'wantedPower'>,
  about: Deed,
): string | null {
  const job = { ...instanceJob(target, about), supersedes: true } as const
  const input = { instanceId: target.id, nodeId: target.nodeId }
  if (target.lifecycle === 'provisioning') return startJob(tx, runningInstance, { ...input, action: 'create' }, job)
  if (target.lifecycle === 'active' && target.wantedPower === 'running')
    return startJob(tx, unsuspendingInstance, { ...input, action: 'unsuspend' }, job)
  cancelJobsHolding(tx, target.id, { by: about.by, reason: 'replaced', now: about.now })
  return null
}
