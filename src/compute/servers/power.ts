import { Type as t } from 'typebox'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { fields, operation } from '../../kernel/api/operation.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { jobResponse, server, serverJob } from '../server-records/model.ts'
import { mustAllowFor, refusalsOf } from './states.ts'

/** A guest has this long to shut itself down; then its vm is switched off. */
const GRACE_SECONDS = 90
const titles = { start: 'Start', shutdown: 'Shut down', off: 'Force off', restart: 'Restart' } as const
export type PowerAction = keyof typeof titles

export const powerServer = operation({
  id: 'servers.power',
  method: 'POST',
  path: '/servers/{id}/actions/power',
  summary: 'Start, shut down, force off or restart',
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
    mustAllowFor(tx, actor, target, action)
    const input = { serverId: target.id, nodeId: target.nodeId, action }
    return {
      jobId: startJob(
        tx,
        powering,
        input,
        serverJob(target, { by: actor, title: `${titles[action]} ${target.hostname}`, now: clock() }),
      ),
      serverId: target.id,
    }
  },
})

export const powering = saga<{ serverId: string; nodeId: string; action: PowerAction }>('power', {
  cancelWith: 'servers:power',
  retry: ({ action }: { action: PowerAction }) => action,
})
  // Looked up in a step of its own: after a crash, asking "was it running?" again would get another answer.
  .command('look', 'Checking its state', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.look', { workload: input.serverId }),
  })
  .command('stop', 'Stopping it', {
    do: ({ input }) =>
      input.action === 'start'
        ? undefined
        : nodeCommand(input.nodeId, 'vm.stop', {
            workload: input.serverId,
            graceSeconds: input.action === 'off' ? 0 : GRACE_SECONDS,
          }),
    undo: ({ input, out }) =>
      input.action !== 'start' && out.look.power === 'running'
        ? nodeCommand(input.nodeId, 'vm.start', { workload: input.serverId })
        : undefined,
  })
  .command('start', 'Starting it', {
    do: ({ input }) =>
      input.action === 'start' || input.action === 'restart'
        ? nodeCommand(input.nodeId, 'vm.start', { workload: input.serverId })
        : undefined,
    undo: ({ input, out }) =>
      input.action === 'start' && out.look.power !== 'running'
        ? nodeCommand(input.nodeId, 'vm.stop', { workload: input.serverId, graceSeconds: 0 })
        : undefined,
  })
  .record('note', 'Recording its state', {
    do: (tx, { input }) => {
      const power = input.action === 'start' || input.action === 'restart' ? 'running' : 'stopped'
      // A restart stops the vm in between, so it has read what waited for its next start.
      if (input.action === 'restart') changeWorkload(tx, input.serverId, { power: 'stopped' })
      changeWorkload(tx, input.serverId, { power, wantedPower: power })
    },
  })
