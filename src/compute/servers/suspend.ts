// Suspending is recorded at once, from anywhere, and carried out on the node when it can be: an overdue customer does not stay
// online because a node reboots. Billing stands behind it, so it comes to its end and is never undone.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { fields, jobResponse, line, operation } from '../../kernel/api/operation.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { changeWorkload } from '../workloads/queries.ts'
import { inEvent, load, server } from './model.ts'
import { mustAllow, refusalsOf } from './state.ts'

const who = { staff: ['servers:suspend'], reseller: ['reseller:servers'] } as const

export const suspendServer = operation({
  id: 'servers.suspend',
  method: 'POST',
  path: '/servers/{id}/actions/suspend',
  summary: 'Suspend a server: it is stopped and its owner kept out until it is unsuspended',
  access: who,
  allowedInSupportSession: true,
  on: server,
  body: fields({ reason: line(500) }),
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('suspend'), 'server_busy'],
  example: { reason: 'Invoice 2041 is overdue' },
  run({ tx, actor, target, body, clock }) {
    mustAllow(target, 'suspend')
    // Nothing is installed, so there is no work for the node. Of one whose reinstallation failed, the old system may still run.
    const waits = target.lifecycle === 'pending_setup'
    const jobId = waits
      ? null
      : startJob(
          tx,
          suspending,
          { serverId: target.id, nodeId: target.nodeId },
          {
            by: actor,
            title: `Suspend ${target.hostname}`,
            holds: target.id,
            nodeId: target.nodeId,
            subject: { type: 'server', id: target.id },
            now: clock(),
          },
        )
    changeWorkload(tx, target.id, { suspendedAt: clock(), suspendReason: body.reason })
    const { concerning, data } = inEvent(tx, load(tx, target.id))
    emit(tx, clock(), 'server.suspended', concerning, { ...data, reason: body.reason })
    return { jobId, serverId: target.id }
  },
})

export const suspending = saga<{ serverId: string; nodeId: string }>('suspend', { neverGivesUp: true })
  .command('stop', 'Stopping it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.stop', { workload: input.serverId, graceSeconds: 60 }),
  })
  // The wanted power stays: unsuspending restores it.
  .record('note', 'Noting its state', {
    do: (tx, { input }) => changeWorkload(tx, input.serverId, { power: 'stopped' }),
  })

export const unsuspendServer = operation({
  id: 'servers.unsuspend',
  method: 'POST',
  path: '/servers/{id}/actions/unsuspend',
  summary: 'Unsuspend a server: its owner has it back as it was',
  access: who,
  allowedInSupportSession: true,
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('unsuspend'), 'server_busy'],
  run({ tx, actor, target, clock }) {
    mustAllow(target, 'unsuspend')
    const jobId =
      target.lifecycle === 'active' && target.wantedPower === 'running'
        ? startJob(
            tx,
            unsuspending,
            { serverId: target.id, nodeId: target.nodeId },
            {
              by: actor,
              title: `Unsuspend ${target.hostname}`,
              holds: target.id,
              nodeId: target.nodeId,
              subject: { type: 'server', id: target.id },
              now: clock(),
            },
          )
        : null
    changeWorkload(tx, target.id, { suspendedAt: null, suspendReason: null })
    const { concerning, data } = inEvent(tx, load(tx, target.id))
    emit(tx, clock(), 'server.unsuspended', concerning, data)
    return { jobId, serverId: target.id }
  },
})

export const unsuspending = saga<{ serverId: string; nodeId: string }>('unsuspend', { neverGivesUp: true })
  .command('start', 'Starting it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.start', { workload: input.serverId }),
  })
  .record('note', 'Noting its state', {
    do: (tx, { input }) => changeWorkload(tx, input.serverId, { power: 'running' }),
  })
