// A suspended server is switched off; its installation is done again from the start when it is unsuspended.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { endTrafficSuspension } from '../../../fleet/traffic-records/queries.ts'
import { changeWorkload } from '../../../fleet/workloads/queries.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import { isHeldByJob } from '../../../kernel/jobs/queries.ts'
import { forwardSaga } from '../../../kernel/jobs/saga.ts'
import { cancelJobsHolding, startJob } from '../../../kernel/jobs/start.ts'
import { rememberInstallation, resumeInstallation } from '../../installation/interrupted.ts'
import { inEvent, jobDetailResponse, load, type Server, serverJob } from '../../server-records/model.ts'
import { leaveRescue, ownSystem } from '../../server-vm/rescue-disk.ts'
import * as shared from '../../workloads/suspend.ts'
import { actingServer } from '../states.ts'

const suspension = shared.suspensionOf<Server>(actingServer, {
  keepOff(tx, target, about) {
    // Without an installation there is nothing to stop. After a failed reinstallation the old system may still run.
    const isEmpty = target.lifecycle === 'pending_setup' && !isHeldByJob(tx, target.id)
    rememberInstallation(tx, target)
    if (isEmpty) return null
    const input = { serverId: target.id, nodeId: target.nodeId }
    return startJob(tx, suspending, input, { ...serverJob(target, about), supersedes: true })
  },
  restore(tx, target, about) {
    const mustStart = target.lifecycle === 'active' && target.wantedPower === 'running'
    const resumedId = resumeInstallation(tx, target, about)
    if (!mustStart && !resumedId) cancelJobsHolding(tx, target.id, { ...about, reason: 'unsuspended' })
    if (!mustStart) return resumedId
    const input = { serverId: target.id, nodeId: target.nodeId }
    return startJob(tx, unsuspending, input, { ...serverJob(target, about), supersedes: true })
  },
  tell(tx, { id }, told) {
    const { concerning, data } = inEvent(tx, load(tx, id))
    if (told.type === 'suspended') emit(tx, told.now, 'server.suspended', concerning, { ...data, reason: told.reason })
    else emit(tx, told.now, 'server.unsuspended', concerning, data)
  },
})
export const { suspend, unsuspend } = suspension

export const {
  suspend: suspendServer,
  unsuspend: unsuspendServer,
  ask: askSuspension,
} = shared.suspending(actingServer, suspension, {
  path: (action) => `/servers/{id}/actions/${action}`,
  summaries: {
    suspend: 'Suspend a server: it is stopped and its owner kept out until it is unsuspended',
    unsuspend: 'Unsuspend a server: its owner has it back as it was',
  },
  answer: jobDetailResponse,
  // It is stopped already; from now on no end of a month and no top-up starts it again.
  takeOver(tx, target, { reason, now }) {
    if (target.status !== 'suspended' || !endTrafficSuspension(tx, target.id)) return false
    changeWorkload(tx, target.id, { suspendReason: reason })
    suspension.tell(tx, target, { type: 'suspended', reason, now })
    return true
  },
  unsuspended: (tx, { id }) => void endTrafficSuspension(tx, id),
})

export const suspending = forwardSaga<{ serverId: string; nodeId: string }>('suspend', { title: 'Suspension' })
  .command('stop', 'Stopping it', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.stop', { workload: input.serverId, graceSeconds: 60 }),
  })
  // The wanted power stays: unsuspending restores it.
  .record('note', 'Recording its state', {
    do: (tx, { input }) => changeWorkload(tx, input.serverId, { power: 'stopped' }),
  })

export const unsuspending = forwardSaga<{ serverId: string; nodeId: string }>('unsuspend', { title: 'Unsuspension' })
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
