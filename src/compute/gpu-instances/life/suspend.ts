// A suspension is recorded at once, also while a job is at work or the node is away, and counts from that moment. It
// replaces the open job, comes to its end and is never undone.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { fields, line, operation } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { cancelJobsHolding, type NewJob, startJob } from '../../../kernel/jobs/start.ts'
import { type GpuInstance, gpuInstance, instanceJob, jobResponse, tell } from '../model.ts'
import { runningInstance, unsuspendingInstance } from '../run/run.ts'
import { noteEnded } from '../run/spells.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'

const access = { staff: ['servers:suspend'], reseller: ['reseller:servers'] } as const
const SUSPEND_GRACE_SECONDS = 60

export const suspendInstance = operation({
  id: 'gpu-instances.suspend',
  method: 'POST',
  path: '/admin/gpu-instances/{id}/suspend',
  summary: 'Suspend a GPU instance: it is stopped and its owner kept out until it is unsuspended; it keeps its cards',
  access,
  allowedInSupportSession: true,
  on: gpuInstance,
  body: fields({ reason: line(500) }),
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: refusalsOf('suspend'),
  example: { reason: 'Invoice 2041 is overdue' },
  run({ tx, actor, target, body: { reason }, clock }) {
    mustAllowFor(tx, actor, target, 'suspend')
    const now = clock()
    const jobId = keepOff(tx, target, { by: actor, title: `Suspend ${target.name}`, now })
    changeWorkload(tx, target.id, { suspendedAt: now, suspendReason: reason })
    if (target.spell === 'running') noteEnded(tx, target, { now, reason: 'requested' })
    tell(tx, now, 'gpu_instance.suspended', target.id, { reason })
    return { jobId, instanceId: target.id }
  },
})

type Deed = Pick<NewJob, 'by' | 'title' | 'now'>
/** Stops it, whatever works on it, and goes on until it has stopped. Answers the job's id. */
const keepOff = (tx: Tx, target: Pick<GpuInstance, 'id' | 'nodeId'>, about: Deed): string =>
  startJob(
    tx,
    suspendingInstance,
    { instanceId: target.id, nodeId: target.nodeId },
    { ...instanceJob(target, about), supersedes: true },
  )

export const suspendingInstance = saga<{ instanceId: string; nodeId: string }>('gpu_suspend', { neverGivesUp: true })
  .command('stop', 'Stopping it', {
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'container.stop', { workload: input.instanceId, graceSeconds: SUSPEND_GRACE_SECONDS }),
  })
  // The wanted power stays: unsuspending restores it.
  .record('note', 'Recording its state', {
    do: (tx, { input }) => changeWorkload(tx, input.instanceId, { power: 'stopped' }),
  })

export const unsuspendInstance = operation({
  id: 'gpu-instances.unsuspend',
  method: 'POST',
  path: '/admin/gpu-instances/{id}/unsuspend',
  summary: 'Unsuspend a GPU instance: it runs again if it ran before',
  access,
  allowedInSupportSession: true,
  on: gpuInstance,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: refusalsOf('unsuspend'),
  run({ tx, actor, target, clock }) {
    mustAllowFor(tx, actor, target, 'unsuspend')
    const now = clock()
    changeWorkload(tx, target.id, { suspendedAt: null, suspendReason: null })
    tell(tx, now, 'gpu_instance.unsuspended', target.id, {})
    return { jobId: goOn(tx, target, { by: actor, title: `Unsuspend ${target.name}`, now }), instanceId: target.id }
  },
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
