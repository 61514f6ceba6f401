// A termination is recorded at once: the owner has the server no more, usage ends, and an event tells billing. Disk and
// addresses are held until the undelete window ends, and then until the node has deleted the disk: nobody gets an
// address on which the old guest still answers.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { releaseAddressesOn } from '../../../fleet/node-records/gone-addresses.ts'
import { detachAllVolumes } from '../../../fleet/volume-records/queries.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { changeSpare, giveBackMemory, releaseHome } from '../../../fleet/workloads/stays/stays.ts'
import { type Actor, system } from '../../../kernel/api/actor.ts'
import { oneOf } from '../../../kernel/api/query.ts'
import { hour } from '../../../kernel/db/clock.ts'
import type { Db, Tx } from '../../../kernel/db/open.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { forwardSaga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import type { MailContext } from '../../../kernel/mail/mail.ts'
import { settingValue, switchSetting, wholeSetting } from '../../../kernel/setting.ts'
import { addressesOf, isOwn } from '../../../network/ip-pools/allocate.ts'
import { mayDestroy } from '../../brake/brake.ts'
import { heldAs } from '../../brake/queries.ts'
import { takeInterrupted } from '../../installation/queries.ts'
import { diskJob } from '../../server-records/disk-lock.ts'
import {
  endedServer,
  inEvent,
  jobDetailResponse,
  load,
  type Server,
  serverJob,
  serverKind,
} from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { volumeOf } from '../../server-vm/definition.ts'
import { forgetSnapshots } from '../../snapshot-records/queries.ts'
import { deleting, endDue } from '../../workloads/delete.ts'
import { tellRemoved } from '../notices.ts'
import { actingServer, mustAllow, mustBeEndable } from '../states.ts'

export const undeleteHours = wholeSetting({
  name: 'servers.undelete_hours',
  title: 'Undelete window',
  words: 'How long a terminated server can be brought back. 0 deletes its disk at once.',
  weakens: 'lower',
  default: 24,
  minimum: 0,
  maximum: 24 * 90,
  unit: 'hours',
})
export const ownersUndelete = switchSetting({
  name: 'servers.owners_undelete',
  title: 'Owners bring back their servers',
  words: 'Customers may bring back their own terminated servers. When it is off, they ask their provider.',
  weakens: 'never',
  default: false,
})

export const terminateServer = deleting(actingServer, 'terminate', {
  name: 'terminate',
  path: '/servers/{id}',
  summary: 'Terminate a server: it ends at once, and its disk is deleted when the undelete window ends',
  access: { staff: ['servers:terminate'], reseller: ['reseller:servers'] },
  on: endedServer,
  query: {
    immediately: oneOf(
      ['true', 'false'],
      'With true there is no undelete window: the disk is deleted at once, also where the window is open already. ' +
        'Refused while the server is protected.',
    ),
  },
  refuses: ['server_protected'],
  answer: jobDetailResponse,
  end(call) {
    const { tx, actor, target, query, clock } = call
    const immediately = query['immediately'] === 'true'
    const jobId = terminate(tx, target, { by: actor, now: clock(), immediately })
    if (target.purgeAt !== null && load(tx, target.id).purgeAt === null) tellRemoved(tx, call, target)
    return jobId
  },
})

/**
 * Answers the job's id; null where the node has nothing to do. Throws what its state or its protection refuses.
 * `immediately`: without an undelete window, also where one is open since a termination before.
 */
export function terminate(
  tx: Tx,
  target: Server,
  { by, now, immediately = false }: { by: Actor; now: number; immediately?: boolean },
): string | null {
  if (target.terminatedAt === null || target.purgeAt !== null) mustBeEndable(by, target, immediately)
  if (immediately && target.purgeAt !== null) return giveUpWindow(tx, target, { by, now })
  mustAllow(target, 'terminate')
  takeInterrupted(tx, target.id)
  const isEmpty = target.lifecycle === 'pending_setup' && !isHeldByJob(tx, target.id)
  // One that waits for its setup has no data: there is nothing to destroy.
  const held = !isEmpty && mayDestroy(tx, by, { kind: 'terminate', workloadId: target.id, now }).held
  const windowMs = immediately ? 0 : settingValue(tx, undeleteHours) * hour
  const released = addressesOf(tx, target.id)
    .filter(isOwn)
    .map((a) => a.address)
  changeWorkload(tx, target.id, {
    lifecycle: 'terminated',
    terminatedAt: now,
    terminatedFrom: target.lifecycle === 'terminated' ? null : target.lifecycle,
    purgeAt: now + windowMs,
    purgeHeld: held,
  })
  if (isEmpty) giveBackMemory(tx, target.id)
  const { concerning, data } = inEvent(tx, load(tx, target.id))
  emit(tx, now, 'server.terminated', concerning, { ...data, releasedAddresses: released })
  if (!windowMs && !held) return purge(tx, load(tx, target.id), { by, now })
  if (isEmpty) return null
  const about = serverJob(target, { by, title: `Terminate ${target.hostname}`, now })
  return startJob(tx, terminating, { serverId: target.id, nodeId: target.nodeId }, { ...about, supersedes: true })
}

/** One that is held for a second person is deleted when that person says so. */
function giveUpWindow(tx: Tx, target: Server, { by, now }: { by: Actor; now: number }): string | null {
  if (target.purgeHeld) {
    // Where a window is held, a refusal leaves it as it was.
    if (heldAs(tx, target.id) === 'terminate') changeWorkload(tx, target.id, { purgeAt: now })
    return null
  }
  const { held } = mayDestroy(tx, by, { kind: 'give_up_window', workloadId: target.id, now })
  if (!held) return purge(tx, target, { by, now })
  changeWorkload(tx, target.id, { purgeHeld: true })
  return null
}

/**
 * Ends the undelete window and deletes what is held. Answers the job's id; null where its node never had anything of
 * it. From here on nothing brings the server back.
 */
function purge(tx: Tx, target: Server, { by, now }: { by: Actor; now: number }): string | null {
  changeWorkload(tx, target.id, { purgeAt: null })
  if (target.terminatedFrom === 'pending_setup' && !isHeldByJob(tx, target.id)) {
    releaseEnded(tx, target.id, now)
    return null
  }
  const input = { serverId: target.id, nodeId: target.nodeId }
  const title = `Delete the disk of ${target.hostname}`
  return startJob(tx, purging, input, { ...diskJob(target, { by, title, now }), supersedes: true })
}

/** Gives back all that is held for a server of which nothing is on its node any more. */
export function releaseEnded(tx: Tx, id: string, now: number) {
  releaseAddressesOn(tx, load(tx, id), now)
  detachAllVolumes(tx, id)
  changeSpare(tx, id, -forgetSnapshots(tx, id))
  const { rescue } = load(tx, id)
  if (rescue) {
    changeSpare(tx, id, -rescue.diskGb)
    updateServer(tx, id, { rescue: null })
  }
  // The seed that had it goes with the disk.
  updateServer(tx, id, { pendingSeed: null, pendingPasswordHash: null })
  releaseHome(tx, id, now)
}

/** Starts the deletion of the servers whose undelete window has ended. */
export function purgeDue(db: Db, app: MailContext) {
  const now = app.clock()
  endDue(db, {
    ...{ kind: serverKind.kind, now, load },
    end(tx, target) {
      purge(tx, target, { by: system, now })
      tellRemoved(tx, app, target)
    },
  })
}

type Input = { serverId: string; nodeId: string }

/** Its definition, network rules, disk and addresses stay for as long as it can be brought back. */
export const terminating = forwardSaga<Input>('terminate', { title: 'Termination' })
  .command('stop', 'Stopping it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.stop', { workload: input.serverId, graceSeconds: 60 }),
  })
  .record('note', 'Recording its state', {
    do: (tx, { input }) => {
      if (load(tx, input.serverId).lifecycle !== 'terminated') return
      changeWorkload(tx, input.serverId, { power: 'stopped' })
      giveBackMemory(tx, input.serverId)
    },
  })

export const purging = forwardSaga<Input>('purge', { title: 'Disk deletion' })
  // Read when the job begins: a reinstallation may have replaced the disk after the termination was recorded.
  .record('plan', 'Finding its disks', {
    losesData: true,
    do: (tx, { input }) => {
      const server = load(tx, input.serverId)
      return {
        volume: server.diskGeneration === null ? null : volumeOf(server, server.diskGeneration),
        rescue: server.rescue && volumeOf(server, server.rescue.generation),
      }
    },
  })
  .command('remove', 'Switching it off and removing it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.remove', { workload: input.serverId }),
  })
  .command('disk', 'Deleting its disk', {
    do: ({ input, out }) => (out.plan.volume ? nodeCommand(input.nodeId, 'volume.remove', out.plan.volume) : undefined),
  })
  .command('rescue-disk', 'Deleting its rescue disk', {
    do: ({ input, out }) => (out.plan.rescue ? nodeCommand(input.nodeId, 'volume.remove', out.plan.rescue) : undefined),
  })
  // After the vm: it never runs without its network rules.
  .command('firewall', 'Removing its network rules', {
    do: ({ input }) => nodeCommand(input.nodeId, 'firewall.forget', { workload: input.serverId }),
  })
  .record('release', 'Releasing its addresses', {
    do: (tx, { input, now }) => releaseEnded(tx, input.serverId, now),
  })
