// The state table of GPU instances.
import { locked, lost, statesOf } from '../../fleet/workloads/states/table.ts'
import { isLockedFor } from '../../identity/team/access.ts'
import { type GpuInstance, gpuInstance, gpuInstanceKind, instanceStatuses } from './model.ts'

/** Cells of an action that needs a container that is set up. */
const needsContainer = {
  // A job holds it.
  creating: 'gpu_instance_busy',
  running: 'allowed',
  stopped: 'allowed',
  suspended: 'gpu_instance_suspended',
  failed: 'allowed',
  deleting: 'gpu_instance_deleted',
  deleted: 'gpu_instance_deleted',
} as const
/** Cells of an action that changes the record alone. */
const always = { ...needsContainer, creating: 'allowed', suspended: 'allowed' } as const

export const instanceActions = statesOf<GpuInstance, Pick<GpuInstance, 'status'>>()({
  kind: gpuInstanceKind.kind,
  statuses: instanceStatuses.statuses,
  obstacles: { locked, lost },
  words: {
    gpu_instance_busy: (s) => `${s} is being set up. Wait until its job has ended.`,
    already_running: (s) => `${s} is already running.`,
    already_stopped: (s) => `${s} is stopped.`,
    gpu_instance_suspended: (s) =>
      `${s} is suspended. It can be changed again when whoever suspended it unsuspends it; ` +
      'customers ask their provider.',
    already_suspended: (s) => `${s} is already suspended.`,
    not_suspended: (s) => `${s} is not suspended.`,
    gpu_instance_failed: (s) => `${s} has failed. Start it again, rebuild it, or have it deleted.`,
    gpu_instance_deleted: (s) => `${s} was deleted.`,
    node_lost: (s) => `The host of ${s} was lost, so nothing can be done with it there. Delete it.`,
    account_locked: (s) => `The account is locked, so ${s} cannot be changed. Ask your provider.`,
    not_possible: (s) => `${s} is in a state that this version of Berth does not know. Nothing can be done with it.`,
  },
  nameOf: ({ name }) => name,
  isLockedFor,
}).rows({
  start: { ...needsContainer, running: 'already_running', refusedWhen: ['locked', 'lost'] },
  stop: { ...needsContainer, stopped: 'already_stopped', failed: 'gpu_instance_failed', refusedWhen: ['locked'] },
  restart: {
    ...needsContainer,
    stopped: 'already_stopped',
    failed: 'gpu_instance_failed',
    refusedWhen: ['locked', 'lost'],
  },
  rebuild: { ...needsContainer, refusedWhen: ['locked', 'lost'] },
  ssh_keys: { ...needsContainer, refusedWhen: ['locked', 'lost'] },
  environment: { ...always, creating: 'gpu_instance_busy', refusedWhen: ['locked'] },
  restart_policy: { ...always, creating: 'gpu_instance_busy', refusedWhen: ['locked'] },
  http_ports: { ...always, refusedWhen: ['locked'] },
  rename: { ...always, refusedWhen: [] },
  // Suspending and deleting end the job that holds the instance.
  suspend: { ...always, suspended: 'already_suspended', refusedWhen: [] },
  unsuspend: {
    ...always,
    creating: 'not_suspended',
    running: 'not_suspended',
    stopped: 'not_suspended',
    failed: 'not_suspended',
    refusedWhen: [],
  },
  delete: { ...always, refusedWhen: [] },
})
export const { mustAllowFor, refusalsOf } = instanceActions
export type Action = keyof typeof instanceActions.table

/** GPU instances, as the actions see them that every kind of workload has. */
export const actingInstance = {
  kind: gpuInstanceKind,
  prefix: 'gpu-instances',
  path: '/gpu-instances/{id}',
  resource: gpuInstance,
  states: instanceActions,
  nameOf: ({ name }: GpuInstance) => name,
} as const
