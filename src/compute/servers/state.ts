// The state machine of a server: one table of every state and every action, from which operations, buttons and the
// reference derive.

import { isGoneNode } from '../../fleet/nodes/queries.ts'
import { type Status, statuses } from '../../fleet/workloads/status.ts'
import { isLockedFor } from '../../identity/team/access.ts'
import { type Actor, idOf } from '../../kernel/api/actor.ts'
import { ApiError, type Code } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Server } from './model.ts'

/** Cells of an action that needs a system that is installed and at work. */
const needsInstallation = {
  pending_setup: 'not_set_up',
  // A job holds it.
  provisioning: 'server_busy',
  running: 'allowed',
  stopped: 'allowed',
  suspended: 'server_suspended',
  failed: 'server_failed',
  terminated: 'server_terminated',
} as const
/** Cells of an action that changes the record alone. */
const always = {
  pending_setup: 'allowed',
  provisioning: 'allowed',
  running: 'allowed',
  stopped: 'allowed',
  suspended: 'allowed',
  failed: 'allowed',
  terminated: 'server_terminated',
} as const

/**
 * A reason beside the state for which an action is refused. `locked`: the customer is locked; staff and its reseller
 * may. `lost`: the node was lost, and nothing is sent to it any more. `protected`: its owner switched protection on.
 * `purged`: it was terminated and its disk is deleted, or about to be. `in_rescue`, `not_in_rescue`: it runs, or does
 * not run, a rescue system.
 */
type Obstacle = 'locked' | 'lost' | 'protected' | 'purged' | 'in_rescue' | 'not_in_rescue'

/** Total: a new state or action does not compile until each of its cells is decided. */
export const table = {
  start: { ...needsInstallation, running: 'already_running', refusedWhen: ['locked'] },
  shutdown: { ...needsInstallation, stopped: 'already_stopped', refusedWhen: ['locked'] },
  off: { ...needsInstallation, stopped: 'already_stopped', refusedWhen: ['locked'] },
  restart: { ...needsInstallation, stopped: 'already_stopped', refusedWhen: ['locked'] },
  setup: {
    pending_setup: 'allowed',
    provisioning: 'already_set_up',
    running: 'already_set_up',
    stopped: 'already_set_up',
    suspended: 'server_suspended',
    failed: 'already_set_up',
    terminated: 'server_terminated',
    refusedWhen: ['locked'],
  },
  reinstall: { ...needsInstallation, failed: 'allowed', refusedWhen: ['locked', 'lost', 'protected'] },
  // Suspending and terminating end the job that holds the server.
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
  terminate: { ...always, refusedWhen: [] },
  undelete: {
    pending_setup: 'not_terminated',
    provisioning: 'not_terminated',
    running: 'not_terminated',
    stopped: 'not_terminated',
    suspended: 'not_terminated',
    failed: 'not_terminated',
    terminated: 'allowed',
    refusedWhen: ['lost', 'purged'],
  },
  // The installation carries the present owner's keys.
  change_owner: { ...always, provisioning: 'server_busy', refusedWhen: [] },
  protect: { ...always, refusedWhen: ['locked'] },
  rename: { ...always, refusedWhen: [] },
  firewall: { ...always, refusedWhen: ['locked'] },
  // Asks the node, which has rules of a server that is installed.
  count_firewall: { ...needsInstallation, suspended: 'allowed', refusedWhen: ['lost'] },
  smtp: { ...always, refusedWhen: [] },
  restart_policy: { ...needsInstallation, pending_setup: 'allowed', refusedWhen: ['locked'] },
  reset_password: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'in_rescue'] },
  detect_os: { ...needsInstallation, stopped: 'already_stopped', refusedWhen: ['lost', 'in_rescue'] },
  speed: { ...always, provisioning: 'server_busy', refusedWhen: ['lost'] },
  // Also while it is installed, and to see why that failed.
  console: {
    ...needsInstallation,
    provisioning: 'allowed',
    stopped: 'already_stopped',
    failed: 'allowed',
    refusedWhen: ['locked', 'lost'],
  },
  change_package: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
  floating_ip: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
  volume: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
  // Also of a server whose installation failed or that can be brought back: the volume is its owner's.
  detach_volume: {
    ...needsInstallation,
    failed: 'allowed',
    terminated: 'allowed',
    refusedWhen: ['locked', 'lost', 'protected'],
  },
  boot_order: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
  iso: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
  rescue: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'in_rescue'] },
  snapshot: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'in_rescue'] },
  restore_snapshot: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'protected', 'in_rescue'] },
  delete_snapshot: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'protected', 'in_rescue'] },
  backup: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'in_rescue'] },
  restore_backup: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'protected', 'in_rescue'] },
  // They lie elsewhere, and outlive the server.
  delete_backup: { ...always, terminated: 'allowed', refusedWhen: ['locked', 'protected'] },
  backup_plan: { ...always, pending_setup: 'not_set_up', refusedWhen: [] },
  exit_rescue: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'not_in_rescue'] },
  addresses: { ...needsInstallation, pending_setup: 'allowed', refusedWhen: ['lost'] },
} as const satisfies Record<string, Record<Status, 'allowed' | Code> & { refusedWhen: readonly Obstacle[] }>
export type Action = keyof typeof table
export const actionNames = Object.keys(table) as Action[]

/** The actions that the obstacle refuses. */
type RefusedWhen<H extends Obstacle> = {
  [A in Action]: H extends (typeof table)[A]['refusedWhen'][number] ? A : never
}[Action]
const isRefusedWhen = (action: Action, obstacle: Obstacle) =>
  (table[action].refusedWhen as readonly Obstacle[]).includes(obstacle)

type Refused =
  | Exclude<(typeof table)[Action][Status], 'allowed'>
  | 'account_locked'
  | 'node_lost'
  | 'server_protected'
  | 'already_in_rescue'
  | 'not_in_rescue'
  | 'not_possible'
/** `rescue`: the rescue system that it is in, or whether it is in one. */
type Deciding = { status: Status; protected: boolean; purgeAt: number | null; rescue: object | boolean | null }
/** Beside the record: is the customer locked for the actor, and was the node of the server lost? */
type Circumstances = { locked: boolean; nodeLost: boolean }

const words: Record<Refused, (hostname: string) => string> = {
  server_busy: (s) => `${s} is being installed. Wait until its job has ended.`,
  not_set_up: (s) => `${s} is waiting for its setup: choose an image for it first.`,
  already_set_up: (s) => `${s} is already set up. To install another image, reinstall it.`,
  already_running: (s) => `${s} is already running.`,
  already_stopped: (s) => `${s} is stopped.`,
  server_suspended: (s) =>
    `${s} is suspended. It can be changed again when whoever suspended it unsuspends it; customers ask their provider.`,
  already_suspended: (s) => `${s} is already suspended.`,
  not_suspended: (s) => `${s} is not suspended.`,
  server_failed: (s) => `The installation of ${s} failed. Reinstall or terminate it.`,
  server_terminated: (s) => `${s} was terminated.`,
  not_terminated: (s) => `${s} is not terminated.`,
  node_lost: (s) => `The node of ${s} was lost, so nothing can be done with it there. Terminate it.`,
  account_locked: (s) => `The account is locked, so ${s} cannot be changed. Ask your provider.`,
  server_protected: (s) => `${s} is protected. Take the protection off first.`,
  already_in_rescue: (s) => `${s} is in rescue. Leave rescue first.`,
  not_in_rescue: (s) => `${s} is not in rescue.`,
  not_possible: (s) => `${s} is in a state that this version of Berth does not know. Nothing can be done with it.`,
}

/**
 * The code by which the server's state refuses the action; undefined when it allows it. An unknown state refuses
 * everything.
 */
export function disabledReason(server: Deciding & Circumstances, action: Action): Refused | undefined {
  if (server.locked && isRefusedWhen(action, 'locked')) return 'account_locked'
  // A terminated one is refused by its state.
  if (server.protected && server.status !== 'terminated' && isRefusedWhen(action, 'protected'))
    return 'server_protected'
  const row: Partial<Record<Status, 'allowed' | Refused>> = table[action]
  const cell = row[server.status] ?? 'not_possible'
  if (cell !== 'allowed') return cell
  if (server.purgeAt === null && isRefusedWhen(action, 'purged')) return 'server_terminated'
  if (server.rescue && isRefusedWhen(action, 'in_rescue')) return 'already_in_rescue'
  if (!server.rescue && isRefusedWhen(action, 'not_in_rescue')) return 'not_in_rescue'
  return server.nodeLost && isRefusedWhen(action, 'lost') ? 'node_lost' : undefined
}

/** Throws the refusal of the table, for actions that are open while the customer is locked or the node lost. */
export const mustAllow = (
  server: Deciding & { hostname: string },
  action: Exclude<Action, RefusedWhen<'locked'> | RefusedWhen<'lost'>>,
) => mustAllowHere({ ...server, locked: false, nodeLost: false }, action)

/** Throws the refusal of the table, `account_locked` or `node_lost`. */
export const mustAllowFor = (tx: Db, actor: Actor, server: Server, action: Action) =>
  mustAllowHere({ ...server, locked: isLockedFor(tx, actor, server), nodeLost: isGoneNode(tx, server.nodeId) }, action)

function mustAllowHere(server: Deciding & Circumstances & { hostname: string }, action: Action) {
  const code = disabledReason(server, action)
  if (code) throw new ApiError(code, words[code](server.hostname))
}

/**
 * Protection is against slips of those who have the server, and of their tokens. Its provider ends it all the same, and
 * the undelete window is the net: nobody ends it without the window, or ends the window.
 */
export function mustBeEndable(actor: Actor, server: Server, immediately: boolean) {
  if (!server.protected) return
  if (immediately || server.ownerId === idOf(actor))
    throw new ApiError('server_protected', words.server_protected(server.hostname))
}

/** The codes by which some state refuses one of the actions: for the `refuses` of their operation. */
export function refusalsOf(...actions: readonly Action[]): Code[] {
  const codes = new Set<Code>()
  for (const action of actions) {
    for (const status of statuses) if (table[action][status] !== 'allowed') codes.add(table[action][status] as Code)
    if (isRefusedWhen(action, 'locked')) codes.add('account_locked')
    if (isRefusedWhen(action, 'lost')) codes.add('node_lost')
    if (isRefusedWhen(action, 'protected')) codes.add('server_protected')
    if (isRefusedWhen(action, 'purged')) codes.add('server_terminated')
    if (isRefusedWhen(action, 'in_rescue')) codes.add('already_in_rescue')
    if (isRefusedWhen(action, 'not_in_rescue')) codes.add('not_in_rescue')
  }
  return [...codes]
}
