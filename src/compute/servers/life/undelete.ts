// Bringing a terminated server back before its disk is deleted: checked like an order, because its place may have gone
// to others; disk and addresses were held for it.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { capacityOf } from '../../../fleet/placement/capacity.ts'
import { changeWorkload, isHostnameFree } from '../../../fleet/workloads/queries.ts'
import { hostnameTaken } from '../../../fleet/workloads/reserve.ts'
import { holdsMemory, takeMemoryAgain } from '../../../fleet/workloads/stays/stays.ts'
import { mustNotBeLocked } from '../../../identity/account-records/model.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { mustAllowReturn, resellerOf } from '../../../identity/resellers/model.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import { operation } from '../../../kernel/api/operation.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { forwardSaga } from '../../../kernel/jobs/saga.ts'
import { cancelJobsHolding, startJob } from '../../../kernel/jobs/start.ts'
import { settingValue } from '../../../kernel/setting.ts'
import {
  endedServer,
  heldResources,
  inEvent,
  jobResponse,
  load,
  type Server,
  serverJob,
} from '../../server-records/model.ts'
import { mustBeFreeService } from '../../workloads/service-id.ts'
import { mustAllowFor, refusalsOf } from '../states.ts'
import { ownersUndelete } from './terminate.ts'

export const undeleteServer = operation({
  id: 'servers.undelete',
  method: 'POST',
  path: '/servers/{id}/actions/undelete',
  summary: 'Bring back a terminated server before its disk is deleted; customers only where a setting allows it',
  past: 'Brought back',
  access: { staff: ['servers:terminate'], reseller: ['reseller:servers'], customer: ['servers:reinstall'] },
  on: endedServer,
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [
    ...refusalsOf('undelete'),
    'forbidden',
    'account_locked',
    'reseller_suspended',
    'quota_exceeded',
    'billing_service_id_taken',
    'hostname_taken',
    'no_capacity',
  ],
  run({ tx, actor, target, clock }) {
    if (!mayUndelete(tx, actor)) throw new ApiError('forbidden', 'Ask your provider to bring this server back.')
    return { jobId: undelete(tx, target, { by: actor, now: clock() }), serverId: target.id }
  },
})

/** Customers may where a setting says so; others as the operation's access says. */
export const mayUndelete = (tx: Db, { kind }: Pick<Actor, 'kind'>): boolean =>
  kind !== 'customer' || settingValue(tx, ownersUndelete)

/**
 * Answers the job's id; null where nothing is to be started. Throws what an order would throw, `not_terminated` and
 * `server_terminated`. `unchecked`: neither the owner's lock nor a quota counts.
 */
export function undelete(
  tx: Tx,
  target: Server,
  { by, now, unchecked = false }: { by: Actor; now: number; unchecked?: boolean },
): string | null {
  mustAllowFor(tx, by, target, 'undelete')
  const owner = accountById(tx, target.ownerId)!
  if (!unchecked) mustNotBeLocked(owner)
  mustBeFreeService(tx, by, target, target.billingServiceId)
  if (!isHostnameFree(tx, target, target.hostname)) throw hostnameTaken()
  const reseller = unchecked ? undefined : resellerOf(tx, owner)
  if (reseller) mustAllowReturn(tx, now, reseller, heldResources(tx, target))
  if (!holdsMemory(tx, target.id)) mustHaveMemory(tx, target, by.kind === 'staff')
  const lifecycle = lifecycleAfter(target)
  changeWorkload(tx, target.id, {
    lifecycle,
    failure: lifecycle === 'failed' ? (target.failure ?? 'It was terminated during its installation.') : target.failure,
    terminatedAt: null,
    terminatedFrom: null,
    purgeAt: null,
    purgeHeld: false,
  })
  takeMemoryAgain(tx, target)
  const back = load(tx, target.id)
  const { concerning, data } = inEvent(tx, back)
  emit(tx, now, 'server.undeleted', concerning, data)
  const about = { by, title: `Bring back ${target.hostname}`, now }
  if (back.lifecycle !== 'active' || back.suspendedAt !== null || back.wantedPower !== 'running') {
    cancelJobsHolding(tx, target.id, { ...about, reason: 'brought back' })
    return null
  }
  const input = { serverId: target.id, nodeId: target.nodeId }
  return startJob(tx, undeleting, input, { ...serverJob(target, about), supersedes: true })
}

/** An installation that its termination stopped is undone: nothing is installed then. */
function lifecycleAfter({ diskGeneration, terminatedFrom, imageId }: Server) {
  if (diskGeneration !== null) return 'active'
  if (terminatedFrom === 'pending_setup') return 'pending_setup'
  return terminatedFrom === 'provisioning' && imageId === null ? 'pending_setup' : 'failed'
}

/** Throws `no_capacity`: its disk is on this node. */
function mustHaveMemory(tx: Tx, { nodeId, memoryMb }: Server, namesNode: boolean) {
  const node = capacityOf(tx, nodeId)
  if (node.memoryMb - node.heldMemoryMb >= memoryMb) return
  throw new ApiError(
    'no_capacity',
    `${namesNode ? node.name : 'The node of the server'} has no memory left for it. Free some there, then try again.`,
  )
}

export const undeleting = forwardSaga<{ serverId: string; nodeId: string }>('undelete', { title: 'Undeletion' })
  .command('start', 'Starting it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.start', { workload: input.serverId }),
  })
  .record('note', 'Recording its state', {
    do: (tx, { input }) => changeWorkload(tx, input.serverId, { power: 'running' }),
  })
