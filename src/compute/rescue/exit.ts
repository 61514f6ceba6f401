// Leaving rescue: the server starts its own system again, and the rescue disk is deleted.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { operation } from '../../kernel/api/operation.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { diskJob } from '../server-records/disk-lock.ts'
import { jobResponse, load, server } from '../server-records/model.ts'
import { vmOf, volumeOf } from '../server-vm/definition.ts'
import { seedForNextStart } from '../server-vm/next-start.ts'
import { leaveRescue, ownSystem } from '../server-vm/rescue-disk.ts'
import { defineAfter, lookAtPower, shutDown, startVm } from '../server-vm/steps.ts'
import { rescueActions } from './states.ts'

const GRACE_SECONDS = 60

export const exitRescue = operation({
  id: 'servers.exit-rescue',
  method: 'POST',
  path: '/servers/{id}/actions/rescue/exit',
  summary: 'Leave rescue: the server boots its own system, and the rescue disk is deleted',
  access: everybody('servers:settings'),
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...rescueActions.refusalsOf('exit_rescue'), 'server_busy'],
  run({ tx, actor, target, clock }) {
    rescueActions.mustAllowFor(tx, actor, target, 'exit_rescue')
    const title = `Boot ${target.hostname} from its own disk`
    const input = { serverId: target.id, nodeId: target.nodeId }
    return {
      jobId: startJob(tx, exitingRescue, input, diskJob(target, { by: actor, title, now: clock() })),
      serverId: target.id,
    }
  },
})

export const exitingRescue = saga<{ serverId: string; nodeId: string }>('exit_rescue', {
  title: 'Rescue exit',
  cancelWith: 'servers:settings',
})
  .record('plan', 'Planning', {
    do: (tx, { input }) => {
      const target = load(tx, input.serverId)
      return {
        hasSeed: target.pendingSeed !== null,
        before: vmOf(tx, target, volumeOf(target, target.diskGeneration!), false),
        after: ownSystem(tx, target),
      }
    },
  })
  .command('look', ...lookAtPower)
  .command('stop', 'Shutting down the rescue system', shutDown(GRACE_SECONDS))
  // A seed that waited for the next start of its own system.
  .command('seed', 'Writing the data for its start', {
    do: ({ input, out, jobId }, source) =>
      out.plan.hasSeed
        ? nodeCommand(input.nodeId, 'seed.write', seedForNextStart(source, load(source.db, input.serverId), jobId))
        : undefined,
    undo: ({ input, out }) =>
      out.plan.hasSeed ? nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId }) : undefined,
  })
  .command('define', 'Putting its own disk in front', defineAfter)
  // Where the rescue system never answered, its data is still there.
  .command('unseed', 'Removing the data for its first boot', {
    do: ({ input, out }) =>
      out.plan.hasSeed ? undefined : nodeCommand(input.nodeId, 'seed.remove', { workload: input.serverId }),
  })
  .command('start', ...startVm)
  .record('note', 'Out of rescue', {
    do: (tx, { input, now }) => {
      leaveRescue(tx, input.serverId, now)
      changeWorkload(tx, input.serverId, { power: 'running', wantedPower: 'running' })
    },
  })
