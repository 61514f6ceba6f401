// A suspension is recorded at once, also while a job is at work or the node is away: an overdue customer does not stay
// online because a node reboots. It replaces the open job, comes to its end and is never undone.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { fields, line, operation } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { cancelJobsHolding, type NewJob, startJob } from '../../../kernel/jobs/start.ts'
import { rememberInstallation, resumeInstallation } from '../install/interrupted.ts'
import { inEvent, jobResponse, load, type Server, server, serverJob } from '../model.ts'
import { leaveRescue, ownSystem } from '../rescue/model.ts'
import { mustAllow, refusalsOf } from '../state.ts'
import { endTrafficSuspension } from '../traffic/queries.ts'

const access = { staff: ['servers:suspend'], reseller: ['reseller:servers'] } as const

export const suspendServer = operation({
  id: 'servers.suspend',
  method: 'POST',
  path: '/servers/{id}/actions/suspend',
  summary: 'Suspend a server: it is stopped and its owner kept out until it is unsuspended',
  access,
  allowedInSupportSession: true,
  on: server,
  body: fields({ reason: line(500) }),
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: refusalsOf('suspend'),
  example: { reason: 'Invoice 2041 is overdue' },
  run({ tx, actor, target, body, clock }) {
    const now = clock()
    // It is stopped already; from now on no end of a month and no top-up starts it again.
    if (target.status === 'suspended' && endTrafficSuspension(tx, target.id)) {
      changeWorkload(tx, target.id, { suspendReason: body.reason })
      tellSuspended(tx, target.id, body.reason, now)
      return { jobId: null, serverId: target.id }
    }
    return { jobId: suspend(tx, target, { by: actor, reason: body.reason, now }), serverId: target.id }
  },
})

type Deed = Pick<NewJob, 'by' | 'now'>
/** Answers the job's id; null where there is nothing to stop. Throws what its state refuses. */
export function suspend(tx: Tx, target: Server, { by, reason, now }: Deed & { reason: string }): string | null {
  mustAllow(target, 'suspend')
  // Without an installation there is nothing to stop. After a failed reinstallation the old system may still run.
  const isEmpty = target.lifecycle === 'pending_setup' && !isHeldByJob(tx, target.id)
  rememberInstallation(tx, target)
  const jobId = isEmpty
    ? null
    : startJob(
        tx,
        suspending,
        { serverId: target.id, nodeId: target.nodeId },
        { ...serverJob(target, { by, title: `Suspend ${target.hostname}`, now }), supersedes: true },
      )
  changeWorkload(tx, target.id, { suspendedAt: now, suspendReason: reason })
  tellSuspended(tx, target.id, reason, now)
  return jobId
}

function tellSuspended(tx: Tx, id: string, reason: string, now: number) {
  const { concerning, data } = inEvent(tx, load(tx, id))
  emit(tx, now, 'server.suspended', concerning, { ...data, reason })
}

export const suspending = saga<{ serverId: string; nodeId: string }>('suspend', { neverGivesUp: true })
  .command('stop', 'Stopping it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.stop', { workload: input.serverId, graceSeconds: 60 }),
  })
  // The wanted power stays: unsuspending restores it.
  .record('note', 'Recording its state', {
    do: (tx, { input }) => changeWorkload(tx, input.serverId, { power: 'stopped' }),
  })

export const unsuspendServer = operation({
  id: 'servers.unsuspend',
  method: 'POST',
  path: '/servers/{id}/actions/unsuspend',
  summary: 'Unsuspend a server: its owner has it back as it was',
  access,
  allowedInSupportSession: true,
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: refusalsOf('unsuspend'),
  run({ tx, actor, target, clock }) {
    const jobId = unsuspend(tx, target, { by: actor, now: clock() })
    endTrafficSuspension(tx, target.id)
    return { jobId, serverId: target.id }
  },
})

/** Answers the job's id; null where there is nothing to start. Throws what its state refuses. */
export function unsuspend(tx: Tx, target: Server, { by, now }: Deed): string | null {
  mustAllow(target, 'unsuspend')
  const about = { by, title: `Unsuspend ${target.hostname}`, now }
  const mustStart = target.lifecycle === 'active' && target.wantedPower === 'running'
  const resumedId = resumeInstallation(tx, target, about)
  if (!mustStart && !resumedId) cancelJobsHolding(tx, target.id, { ...about, reason: 'unsuspended' })
  const jobId = mustStart
    ? startJob(
        tx,
        unsuspending,
        { serverId: target.id, nodeId: target.nodeId },
        { ...serverJob(target, about), supersedes: true },
      )
    : resumedId
  changeWorkload(tx, target.id, { suspendedAt: null, suspendReason: null })
  const { concerning, data } = inEvent(tx, load(tx, target.id))
  emit(tx, now, 'server.unsuspended', concerning, data)
  return jobId
}

export const unsuspending = saga<{ serverId: string; nodeId: string }>('unsuspend', { neverGivesUp: true })
  // Out of rescue: the password of the rescue system may be forgotten since, and a customer who pays wants the server.
  .record('plan', 'Finding its system', {
    do: (tx, { input }) => {
      const target = load(tx, input.serverId)
      return { own: target.rescue && ownSystem(tx, target) }
    },
  })
  .command('define', 'Putting its own disk in front', {
    do: ({ input, out }) => (out.plan.own ? nodeCommand(input.nodeId, 'vm.define', out.plan.own) : undefined),
  })
  .command('start', 'Starting it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.start', { workload: input.serverId }),
  })
  .record('note', 'Recording its state', {
    do: (tx, { input, now }) => {
      leaveRescue(tx, input.serverId, now)
      changeWorkload(tx, input.serverId, { power: 'running' })
    },
  })
