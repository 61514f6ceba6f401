// The state machine of a server: one table of every state and every action, from which operations, buttons and the
// reference derive.

import { isGoneNode } from '../../fleet/nodes/queries.ts'
import { type Status, statuses } from '../../fleet/workloads/status.ts'
import { isLockedFor } from '../../identity/team/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, type Code } from '../../kernel/api/errors.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Server } from './model.ts'

export const actionNames = [
  'start',
  'shutdown',
  'off',
  'restart',
  'setup',
  'reinstall',
  'suspend',
  'unsuspend',
  'terminate',
  'rename',
  'restart_policy',
  'change_package',
] as const
export type Action = (typeof actionNames)[number]

/** Total: a new state or action does not compile until each of its cells is decided. */
export const table = {
  pending_setup: {
    start: 'not_set_up',
    shutdown: 'not_set_up',
    off: 'not_set_up',
    restart: 'not_set_up',
    setup: 'allowed',
    reinstall: 'not_set_up',
    suspend: 'allowed',
    unsuspend: 'not_suspended',
    terminate: 'allowed',
    rename: 'allowed',
    restart_policy: 'allowed',
    change_package: 'not_set_up',
  },
  // A job holds it. Suspending and terminating end that job.
  provisioning: {
    start: 'server_busy',
    shutdown: 'server_busy',
    off: 'server_busy',
    restart: 'server_busy',
    setup: 'already_set_up',
    reinstall: 'server_busy',
    suspend: 'allowed',
    unsuspend: 'not_suspended',
    terminate: 'allowed',
    rename: 'allowed',
    restart_policy: 'server_busy',
    change_package: 'server_busy',
  },
  running: {
    start: 'already_running',
    shutdown: 'allowed',
    off: 'allowed',
    restart: 'allowed',
    setup: 'already_set_up',
    reinstall: 'allowed',
    suspend: 'allowed',
    unsuspend: 'not_suspended',
    terminate: 'allowed',
    rename: 'allowed',
    restart_policy: 'allowed',
    change_package: 'allowed',
  },
  stopped: {
    start: 'allowed',
    shutdown: 'already_stopped',
    off: 'already_stopped',
    restart: 'already_stopped',
    setup: 'already_set_up',
    reinstall: 'allowed',
    suspend: 'allowed',
    unsuspend: 'not_suspended',
    terminate: 'allowed',
    rename: 'allowed',
    restart_policy: 'allowed',
    change_package: 'allowed',
  },
  suspended: {
    start: 'server_suspended',
    shutdown: 'server_suspended',
    off: 'server_suspended',
    restart: 'server_suspended',
    setup: 'server_suspended',
    reinstall: 'server_suspended',
    suspend: 'already_suspended',
    unsuspend: 'allowed',
    terminate: 'allowed',
    rename: 'allowed',
    restart_policy: 'server_suspended',
    change_package: 'server_suspended',
  },
  failed: {
    start: 'server_failed',
    shutdown: 'server_failed',
    off: 'server_failed',
    restart: 'server_failed',
    setup: 'already_set_up',
    reinstall: 'allowed',
    suspend: 'allowed',
    unsuspend: 'not_suspended',
    terminate: 'allowed',
    rename: 'allowed',
    restart_policy: 'server_failed',
    change_package: 'server_failed',
  },
  terminated: {
    start: 'server_terminated',
    shutdown: 'server_terminated',
    off: 'server_terminated',
    restart: 'server_terminated',
    setup: 'server_terminated',
    reinstall: 'server_terminated',
    suspend: 'server_terminated',
    unsuspend: 'server_terminated',
    terminate: 'server_terminated',
    rename: 'server_terminated',
    restart_policy: 'server_terminated',
    change_package: 'server_terminated',
  },
} as const satisfies Record<Status, Record<Action, 'allowed' | Code>>

/** A protected server refuses these in every state. */
const refusedWhenProtected: readonly Action[] = ['terminate', 'reinstall']
/** A locked customer may not do these in any state; staff and its reseller may. */
const refusedWhenLocked = [
  'start',
  'shutdown',
  'off',
  'restart',
  'setup',
  'reinstall',
  'restart_policy',
  'change_package',
] as const satisfies Action[]
type ForLocked = (typeof refusedWhenLocked)[number]
const isRefusedWhenLocked = (action: Action): action is ForLocked =>
  (refusedWhenLocked as readonly Action[]).includes(action)

/** A server whose node was lost refuses these in every state: nothing is sent to that node any more. */
const refusedWhenLost = ['reinstall', 'change_package'] as const satisfies Action[]
type ForLost = (typeof refusedWhenLost)[number]
const isRefusedWhenLost = (action: Action): action is ForLost => (refusedWhenLost as readonly Action[]).includes(action)

type Refused =
  | Exclude<(typeof table)[Status][Action], 'allowed'>
  | 'account_locked'
  | 'node_lost'
  | 'server_protected'
  | 'not_possible'
type Deciding = { status: Status; protected: boolean }
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
  node_lost: (s) => `The node of ${s} was lost, so nothing can be done with it there. Terminate it.`,
  account_locked: (s) => `The account is locked, so ${s} cannot be changed. Ask your provider.`,
  server_protected: (s) => `${s} is protected. Take the protection off first.`,
  not_possible: (s) => `${s} is in a state that this version of Berth does not know. Nothing can be done with it.`,
}

/**
 * The code by which the server's state refuses the action; undefined when it allows it. An unknown state refuses
 * everything.
 */
export function disabledReason(server: Deciding & Circumstances, action: Action): Refused | undefined {
  if (server.locked && isRefusedWhenLocked(action)) return 'account_locked'
  if (server.protected && refusedWhenProtected.includes(action)) return 'server_protected'
  const cell: 'allowed' | Refused = (table as Partial<typeof table>)[server.status]?.[action] ?? 'not_possible'
  if (cell !== 'allowed') return cell
  return server.nodeLost && isRefusedWhenLost(action) ? 'node_lost' : undefined
}

/** Throws the refusal of the table, for actions that are open while the customer is locked or the node lost. */
export const mustAllow = (server: Deciding & { hostname: string }, action: Exclude<Action, ForLocked | ForLost>) =>
  mustAllowHere({ ...server, locked: false, nodeLost: false }, action)

/** Throws the refusal of the table, `account_locked` or `node_lost`. */
export const mustAllowFor = (tx: Db, actor: Actor, server: Server, action: Action) =>
  mustAllowHere({ ...server, locked: isLockedFor(tx, actor, server), nodeLost: isGoneNode(tx, server.nodeId) }, action)

function mustAllowHere(server: Deciding & Circumstances & { hostname: string }, action: Action) {
  const code = disabledReason(server, action)
  if (code) throw new ApiError(code, words[code](server.hostname))
}

/** The codes by which some state refuses one of the actions: for the `refuses` of their operation. */
export function refusalsOf(...actions: readonly Action[]): Code[] {
  const codes = new Set<Code>()
  for (const action of actions) {
    for (const status of statuses) if (table[status][action] !== 'allowed') codes.add(table[status][action] as Code)
    if (isRefusedWhenLocked(action)) codes.add('account_locked')
    if (isRefusedWhenLost(action)) codes.add('node_lost')
    if (refusedWhenProtected.includes(action)) codes.add('server_protected')
  }
  return [...codes]
}
