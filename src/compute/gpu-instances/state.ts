// The state machine of a GPU instance: one table of every state and every action, from which operations, buttons and
// the reference derive.
import { isGoneNode } from '../../fleet/nodes/queries.ts'
import { isLockedFor } from '../../identity/team/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, type Code } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type GpuInstance, type InstanceStatus, statuses, statusOf } from './model.ts'

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

/**
 * A reason beside the state. `locked`: the customer is locked; staff and its reseller may. `lost`: its node was lost.
 */
type Obstacle = 'locked' | 'lost'

/** Total: a new state or action does not compile until each of its cells is decided. */
export const table = {
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
} as const satisfies Record<string, Record<InstanceStatus, 'allowed' | Code> & { refusedWhen: readonly Obstacle[] }>
export type Action = keyof typeof table
export const actionNames = Object.keys(table) as Action[]

const isRefusedWhen = (action: Action, obstacle: Obstacle) =>
  (table[action].refusedWhen as readonly Obstacle[]).includes(obstacle)

type Refused = Exclude<(typeof table)[Action][InstanceStatus], 'allowed'> | 'account_locked' | 'node_lost'

const words: Record<Refused, (name: string) => string> = {
  gpu_instance_busy: (s) => `${s} is being set up. Wait until its job has ended.`,
  already_running: (s) => `${s} is already running.`,
  already_stopped: (s) => `${s} is stopped.`,
  gpu_instance_suspended: (s) =>
    `${s} is suspended. It can be changed again when whoever suspended it unsuspends it; customers ask their provider.`,
  already_suspended: (s) => `${s} is already suspended.`,
  not_suspended: (s) => `${s} is not suspended.`,
  gpu_instance_failed: (s) => `${s} has failed. Start it again, rebuild it, or have it deleted.`,
  gpu_instance_deleted: (s) => `${s} was deleted.`,
  node_lost: (s) => `The host of ${s} was lost, so nothing can be done with it there. Delete it.`,
  account_locked: (s) => `The account is locked, so ${s} cannot be changed. Ask your provider.`,
}

/** `locked`: the customer is locked for the actor. `nodeLost`: the host of the instance was lost or removed. */
export type Circumstances = { status: InstanceStatus; locked: boolean; nodeLost: boolean }

/** The code by which the state of an instance refuses the action; undefined when it allows it. */
export function disabledReason({ status, locked, nodeLost }: Circumstances, action: Action): Refused | undefined {
  if (locked && isRefusedWhen(action, 'locked')) return 'account_locked'
  const cell = table[action][status]
  if (cell !== 'allowed') return cell
  return nodeLost && isRefusedWhen(action, 'lost') ? 'node_lost' : undefined
}

/** Throws the refusal of the table, `account_locked` or `node_lost`. */
export function mustAllowFor(tx: Db, actor: Actor, it: GpuInstance, action: Action) {
  const code = disabledReason(
    { status: statusOf(it), locked: isLockedFor(tx, actor, it), nodeLost: isGoneNode(tx, it.nodeId) },
    action,
  )
  if (code) throw new ApiError(code, words[code](it.name))
}

/** The codes by which some state refuses one of the actions: for the `refuses` of their operation. */
export function refusalsOf(...actions: readonly Action[]): Code[] {
  const codes = new Set<Code>()
  for (const action of actions) {
    for (const status of statuses) if (table[action][status] !== 'allowed') codes.add(table[action][status] as Code)
    if (isRefusedWhen(action, 'locked')) codes.add('account_locked')
    if (isRefusedWhen(action, 'lost')) codes.add('node_lost')
  }
  return [...codes]
}
