// A deletion is recorded at once: the owner has the instance no more and its usage ends. Cards, ports and address are
// held until its host has removed it and its /workspace. The event is the last step. A deletion that the brake holds is
// told at once and gives back the cards when it is stopped; /workspace, ports and address wait for the second person.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { gpuOfferById } from '../../../catalog/gpu-offers/queries.ts'
import { releaseCards, releaseInstance } from '../../../fleet/gpus/hold.ts'
import { holdCards } from '../../../fleet/gpus/queries.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { releaseHome } from '../../../fleet/workloads/stays/stays.ts'
import { accessLevel } from '../../../identity/team/access.ts'
import { type Actor, system } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { AppContext, Call } from '../../../kernel/api/operation.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { forwardSaga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { count } from '../../../kernel/words.ts'
import { mayDestroy } from '../../brake/brake.ts'
import { deleting, endDue } from '../../workloads/delete.ts'
import { mustBeFreeService } from '../../workloads/service-id.ts'
import {
  endedInstance,
  type GpuInstance,
  gpuInstance,
  gpuInstanceKind,
  instanceJob,
  jobDetailResponse,
  load,
  tell,
} from '../model.ts'
import { leadToList } from '../notices.ts'
import { actingInstance, mustAllowFor } from '../state.ts'
import { goOn } from './suspend.ts'

export const deleteInstance = deleting(actingInstance, 'delete', {
  name: 'delete',
  path: '/admin/gpu-instances/{id}',
  summary: 'Delete a GPU instance and its /workspace; nothing brings it back',
  past: 'Deleted',
  access: { staff: ['servers:terminate'] },
  on: endedInstance,
  answer: jobDetailResponse,
  end: remove,
})

export const deleteOwnInstance = deleting(actingInstance, 'delete', {
  name: 'delete-own',
  path: '/gpu-instances/{id}',
  summary: 'Delete a GPU instance of yours and its /workspace; nothing brings it back',
  past: 'Deleted',
  access: { reseller: ['reseller:servers'], customer: ['servers:reinstall'] },
  on: gpuInstance,
  refuses: ['forbidden'],
  answer: jobDetailResponse,
  end(call) {
    if (accessLevel(call.tx, call.actor, call.target) !== 'own')
      throw new ApiError('forbidden', 'Only the owner of the instance deletes it.')
    return remove(call)
  },
})

function remove({ tx, actor, target, clock }: Pick<Call<GpuInstance>, 'tx' | 'actor' | 'target' | 'clock'>) {
  mustAllowFor(tx, actor, target, 'delete')
  return removeInstance(tx, target, { by: actor, now: clock() })
}

type By = { by: Actor; now: number }
/**
 * Answers the job's id. Beyond the limit of the brake it is only stopped, and deleted when a second person says so.
 * Throws nothing: its state was asked before.
 */
export function removeInstance(tx: Tx, target: GpuInstance, { by, now }: By): string {
  const { held } = mayDestroy(tx, by, { kind: 'terminate', workloadId: target.id, now })
  changeWorkload(tx, target.id, {
    lifecycle: 'terminated',
    terminatedAt: now,
    terminatedFrom: target.lifecycle === 'terminated' ? null : target.lifecycle,
    purgeAt: held ? now : null,
    purgeHeld: held,
  })
  if (!held) return startDeletion(tx, target, { by, now })
  tell(tx, now, 'gpu_instance.deleted', target.id, {})
  const about = instanceJob(target, { by, title: `Stop ${target.name}: its deletion waits`, now })
  return startJob(tx, holdingBack, { instanceId: target.id, nodeId: target.nodeId }, { ...about, supersedes: true })
}

function startDeletion(tx: Tx, target: GpuInstance, { by, now, isTold = false }: By & { isTold?: boolean }): string {
  leadToList(tx, target)
  return startJob(
    tx,
    deletingInstance,
    { instanceId: target.id, nodeId: target.nodeId, isTold },
    { ...instanceJob(target, { by, title: `Delete ${target.name}`, now }), supersedes: true },
  )
}

/**
 * Brings back one whose deletion a second person refused, with free cards of its host. Answers the job's id; null where
 * nothing is to be started. Throws `billing_service_id_taken`, `gpu_instance_deleted` and `no_capacity`.
 */
export function keepInstance(tx: Tx, target: GpuInstance, { by, now }: By): string | null {
  if (target.lifecycle !== 'terminated' || target.purgeAt === null)
    throw new ApiError('gpu_instance_deleted', `${target.name} is deleted, so nothing brings it back.`)
  mustBeFreeService(tx, by, target, target.billingServiceId)
  const model = gpuOfferById(tx, target.offerId)!.model
  const lacking = holdCards(tx, target, { model, wanted: target.gpus })
  if (lacking)
    throw new ApiError(
      'no_capacity',
      `${target.name} gave back its cards, and its host has ${count(lacking, 'free card', 'free cards')} too few of ` +
        'the model for it now. Refuse it again when others are free there, or release it.',
    )
  changeWorkload(tx, target.id, {
    lifecycle: target.terminatedFrom ?? 'failed',
    terminatedAt: null,
    terminatedFrom: null,
    purgeAt: null,
    purgeHeld: false,
  })
  const back = load(tx, target.id)
  tell(tx, now, 'gpu_instance.undeleted', target.id, {})
  return back.suspendedAt === null ? goOn(tx, back, { by, title: `Bring back ${target.name}`, now }) : null
}

/** Starts the deletions that a second person has released. */
export function deleteReleased(db: Db, { clock }: Pick<AppContext, 'clock'>) {
  const now = clock()
  endDue(db, {
    ...{ kind: gpuInstanceKind.kind, now, load },
    end(tx, target) {
      changeWorkload(tx, target.id, { purgeAt: null })
      startDeletion(tx, target, { by: system, now, isTold: true })
    },
  })
}

const HOLD_GRACE_SECONDS = 60
/** Stops one whose deletion waits for a second person, and gives its cards to others. */
export const holdingBack = forwardSaga<{ instanceId: string; nodeId: string }>('gpu_hold_back', {
  title: 'GPU instance stop before deletion',
})
  .command('stop', 'Stopping it', {
    do: ({ input }) =>
      nodeCommand(input.nodeId, 'container.stop', { workload: input.instanceId, graceSeconds: HOLD_GRACE_SECONDS }),
  })
  .record('release', 'Giving back its cards', {
    do: (tx, { input: { instanceId }, now }) => {
      const target = load(tx, instanceId)
      // Between the two steps a second person may have refused the deletion.
      if (target.lifecycle !== 'terminated') return
      changeWorkload(tx, instanceId, { power: 'stopped' })
      releaseCards(tx, target, now)
    },
  })

/** `isTold`: its deletion was told when the brake held it. */
type Deleting = { instanceId: string; nodeId: string; isTold?: boolean }
export const deletingInstance = forwardSaga<Deleting>('gpu_delete', { title: 'GPU instance deletion' })
  .record('plan', 'Planning', { losesData: true, do: () => true as const })
  .command('remove', 'Stopping it and removing its container', {
    do: ({ input }) => nodeCommand(input.nodeId, 'container.remove', { workload: input.instanceId }),
  })
  .command('workspace', 'Deleting its /workspace', {
    do: ({ input }) => nodeCommand(input.nodeId, 'workspace.remove', { workload: input.instanceId }),
  })
  .record('release', 'Giving back its cards, ports and address', {
    do: (tx, { input: { instanceId, isTold }, now }) => {
      changeWorkload(tx, instanceId, { power: null })
      releaseHome(tx, instanceId, now)
      // Before they are given back: the event names its address.
      if (!isTold) tell(tx, now, 'gpu_instance.deleted', instanceId, {})
      releaseInstance(tx, load(tx, instanceId), now)
    },
  })
