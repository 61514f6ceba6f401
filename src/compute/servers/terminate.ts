// A termination is recorded at once: the owner does not see the server any more, and an event tells billing. Disk and
// addresses are held until the node has deleted the vm, so that nobody gets an address on which the old guest still
// answers.
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { changeWorkload } from '../../fleet/workloads/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { startJob } from '../../kernel/jobs/start.ts'
import { addressesOf, releaseAddresses } from '../../network/ip-pools/allocate.ts'
import { volumeOf } from './install/plan.ts'
import { inEvent, jobResponse, load, type Server, server, serverJob } from './model.ts'
import { mustAllow, refusalsOf } from './state.ts'

export const terminateServer = operation({
  id: 'servers.terminate',
  method: 'DELETE',
  path: '/servers/{id}',
  summary: 'Terminate a server: its disk is deleted and its addresses are given back',
  access: { staff: ['servers:terminate'], reseller: ['reseller:servers'] },
  requiresRecentAuth: true,
  on: server,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: refusalsOf('terminate'),
  run: ({ tx, actor, target, clock }) => ({
    jobId: terminate(tx, target, { by: actor, now: clock() }),
    serverId: target.id,
  }),
})

/** Answers the job's id; null where the node has nothing of it. Throws what its state or its protection refuses. */
export function terminate(tx: Tx, target: Server, { by, now }: { by: Actor; now: number }): string | null {
  mustAllow(target, 'terminate')
  const isEmpty = target.lifecycle === 'pending_setup' && !isHeldByJob(tx, target.id)
  const jobId = isEmpty
    ? null
    : startJob(
        tx,
        terminating,
        { serverId: target.id, nodeId: target.nodeId },
        { ...serverJob(target, { by, title: `Terminate ${target.hostname}`, now }), supersedes: true },
      )
  const released = addressesOf(tx, target.id).map((a) => a.address)
  changeWorkload(tx, target.id, { lifecycle: 'terminated', terminatedAt: now, releasedAt: isEmpty ? now : null })
  const { concerning, data } = inEvent(tx, load(tx, target.id))
  emit(tx, now, 'server.terminated', concerning, { ...data, releasedAddresses: released })
  if (isEmpty) releaseAddresses(tx, target.id)
  return jobId
}

export const terminating = saga<{ serverId: string; nodeId: string }>('terminate', {
  neverGivesUp: true,
})
  // Read when the job begins: a reinstallation may have replaced the disk after the termination was recorded.
  .record('plan', 'Finding its disk', {
    do: (tx, { input }) => {
      const server = load(tx, input.serverId)
      return { volume: server.diskGeneration === null ? null : volumeOf(server, server.diskGeneration) }
    },
  })
  .command('remove', 'Switching it off and removing it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.serverId }),
  })
  .command('disk', 'Deleting its disk', {
    do: ({ input, out }) => (out.plan.volume ? nodeCommand(input.nodeId, 'volume.remove', out.plan.volume) : undefined),
  })
  // After the vm: it never runs without its network rules.
  .command('firewall', 'Removing its network rules', {
    do: ({ input }) => nodeCommand(input.nodeId, 'firewall.forget', { workload: input.serverId }),
  })
  .record('release', 'Releasing its addresses', {
    do: (tx, { input, now }) => {
      releaseAddresses(tx, input.serverId)
      changeWorkload(tx, input.serverId, { releasedAt: now })
    },
  })
