// The job that starts, stops or restarts a server.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { type NewJob, startJob } from '../../kernel/jobs/start.ts'
import { type Server, serverJob } from '../server-records/model.ts'
import { mustAllowFor } from './states.ts'

/** A guest has this long to shut itself down; then its vm is switched off. */
const GRACE_SECONDS = 90
export const titles = { start: 'Start', shutdown: 'Shut down', off: 'Force off', restart: 'Restart' } as const
export type PowerAction = keyof typeof titles

/** Starts the job and answers its id. Throws what the state of the server refuses, and `server_busy`. */
export function changePower(
  tx: Tx,
  target: Server,
  action: PowerAction,
  deed: Pick<NewJob, 'by' | 'now' | 'parentId'>,
) {
  mustAllowFor(tx, deed.by, target, action)
  const input = { serverId: target.id, nodeId: target.nodeId, action }
  const about = { ...deed, title: `${titles[action]} ${target.hostname}` }
  return startJob(tx, powering, input, serverJob(target, about))
}

export const powering = saga<{ serverId: string; nodeId: string; action: PowerAction }>('power', {
  title: 'Power action',
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
