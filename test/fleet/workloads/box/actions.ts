// A box has the actions of every kind of workload: states, settings, suspension and billing identifier.
import { Type as t } from 'typebox'
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { displayName } from '../../../../src/compute/workloads/acting.ts'
import { attentionOf } from '../../../../src/compute/workloads/attention.ts'
import { settingBillingService } from '../../../../src/compute/workloads/billing-service.ts'
import { labelling } from '../../../../src/compute/workloads/labels.ts'
import { renaming } from '../../../../src/compute/workloads/rename.ts'
import { settingRestartPolicyOf } from '../../../../src/compute/workloads/restart-policy.ts'
import { suspending, suspensionOf } from '../../../../src/compute/workloads/suspend.ts'
import { changeWorkload } from '../../../../src/fleet/workloads/queries.ts'
import { locked, lost, statesOf } from '../../../../src/fleet/workloads/states/table.ts'
import { type Status, statuses, statusOf } from '../../../../src/fleet/workloads/status.ts'
import type { Workload } from '../../../../src/fleet/workloads/tables.ts'
import { isLockedFor, workloadResource } from '../../../../src/identity/team/access.ts'
import type { Resource } from '../../../../src/kernel/api/operation.ts'
import type { Db } from '../../../../src/kernel/db/open.ts'
import { forwardSaga } from '../../../../src/kernel/jobs/saga.ts'
import { startJob } from '../../../../src/kernel/jobs/start.ts'
import { boxById, box as boxes, boxKind, jobOf } from './box.ts'

type Box = Workload & { status: Status }
const withStatus = (tx: Db, id: string): Box | undefined => {
  const found = boxById(tx, id)
  return found && { ...found, status: statusOf(found) }
}
const box: Resource<Box> = { ...boxes, ...workloadResource(withStatus) }

const always = {
  pending_setup: 'allowed',
  provisioning: 'allowed',
  running: 'allowed',
  stopped: 'allowed',
  suspended: 'allowed',
  failed: 'allowed',
  terminated: 'server_terminated',
} as const
export const boxActions = statesOf<Box, Pick<Box, 'status'>>()({
  kind: boxKind.kind,
  statuses,
  obstacles: { locked, lost },
  words: {
    server_terminated: (name) => `${name} was terminated.`,
    already_suspended: (name) => `${name} is suspended.`,
    not_suspended: (name) => `${name} is not suspended.`,
    account_locked: (name) => `The account is locked, so ${name} cannot be changed.`,
    node_lost: (name) => `The node of ${name} was lost.`,
    not_possible: (name) => `${name} is in a state that nobody knows.`,
  },
  nameOf: ({ name }) => name,
  isLockedFor,
}).rows({
  rename: { ...always, refusedWhen: ['locked'] },
  restart_policy: { ...always, refusedWhen: ['locked', 'lost'] },
  suspend: { ...always, suspended: 'already_suspended', refusedWhen: [] },
  unsuspend: {
    pending_setup: 'not_suspended',
    provisioning: 'not_suspended',
    running: 'not_suspended',
    stopped: 'not_suspended',
    suspended: 'allowed',
    failed: 'not_suspended',
    terminated: 'server_terminated',
    refusedWhen: [],
  },
})

export const actingBox = {
  kind: boxKind,
  prefix: 'boxes',
  path: '/boxes/{id}',
  resource: box,
  states: boxActions,
  nameOf: ({ name }: Box) => name,
} as const

export const boxRecord = t.Object({
  id: t.String(),
  name: displayName,
  status: t.Enum([...statuses]),
  restartPolicy: t.String(),
  suspendReason: t.Union([t.String(), t.Null()]),
  billingServiceId: t.Union([t.String(), t.Null()]),
})
const show = ({ id, name, status, restartPolicy, suspendReason, billingServiceId }: Box) => ({
  id,
  name,
  status,
  restartPolicy,
  suspendReason,
  billingServiceId,
})
export const showBox = (tx: Db, id: string) => show(withStatus(tx, id)!)
const answer = { schema: boxRecord, of: ({ tx }: { tx: Db }, id: string) => showBox(tx, id) }
const job = t.Object({ jobId: t.Union([t.String(), t.Null()]), boxId: t.String() })
const jobDetailResponse = { schema: job, of: (boxId: string, jobId: string | null) => ({ jobId, boxId }) }

type Input = { boxId: string; nodeId: string }
const powering = (name: string, words: string, power: 'running' | 'stopped') =>
  forwardSaga<Input>(name)
    .command('power', words, {
      do: ({ input: { boxId: workload, nodeId } }) =>
        power === 'running'
          ? nodeCommand(nodeId, 'vm.start', { workload })
          : nodeCommand(nodeId, 'vm.stop', { workload, graceSeconds: 0 }),
    })
    .record('note', 'Recording its state', { do: (tx, { input }) => changeWorkload(tx, input.boxId, { power }) })
export const stopping = powering('suspend-box', 'Stopping it', 'stopped')
export const starting = powering('unsuspend-box', 'Starting it', 'running')

const about = (target: Box, by: Parameters<typeof jobOf>[1], now: number) => ({
  ...jobOf({ ...target, node: { id: target.nodeId } }, by, now),
  supersedes: true as const,
})
const suspension = suspensionOf<Box>(actingBox, {
  keepOff: (tx, target, { by, now }) =>
    startJob(tx, stopping, { boxId: target.id, nodeId: target.nodeId }, about(target, by, now)),
  restore: (tx, target, { by, now }) =>
    startJob(tx, starting, { boxId: target.id, nodeId: target.nodeId }, about(target, by, now)),
  tell: () => {},
})
const both = suspending(actingBox, suspension, {
  path: (action) => `/boxes/{id}/${action}`,
  summaries: { suspend: 'Suspend a box', unsuspend: 'Unsuspend a box' },
  answer: jobDetailResponse,
})

export const boxSharedOperations = [
  renaming(actingBox, { path: '', summary: 'Rename a box', example: 'Shop', answer }),
  settingBillingService(actingBox, { on: box, answer }),
  settingRestartPolicyOf(actingBox, {
    summary: 'Choose what happens when a box ends by itself',
    answer: { schema: t.Object({ boxId: t.String() }), of: (boxId) => ({ boxId }) },
  }),
  labelling(actingBox, {
    answer: { schema: t.Object({ labels: t.Array(t.String()) }), of: (_, labels) => ({ labels }) },
  }),
  both.suspend,
  both.unsuspend,
]
export const boxAttention = attentionOf(boxKind, {
  action: 'Show boxes',
  pageOf: () => '/admin/boxes',
  failed: ({ name }) => ({ what: `The box ${name} has failed.`, effect: 'Remove it.' }),
  crashed: { what: ({ name }) => `The box ${name} ended by itself`, restarted: 'It was started again.' },
})
