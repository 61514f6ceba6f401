// The state table of servers. The features declare the rows of their actions by `serverStates.rows`.

import { locked, lost, statesOf } from '../../fleet/workloads/states/table.ts'
import { statuses } from '../../fleet/workloads/status.ts'
import { isLockedFor } from '../../identity/team/access.ts'
import type { Server } from './model.ts'

/** Cells of an action that needs a system that is installed and at work. */
export const needsInstallation = {
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
export const always = {
  pending_setup: 'allowed',
  provisioning: 'allowed',
  running: 'allowed',
  stopped: 'allowed',
  suspended: 'allowed',
  failed: 'allowed',
  terminated: 'server_terminated',
} as const

/** `rescue`: the rescue system that it is in, or whether it is in one. */
type Deciding = Pick<Server, 'status' | 'protected' | 'purgeAt'> & { rescue: object | boolean | null }

/**
 * The obstacles beside those of every kind: `protected`: its owner switched protection on. `purged`: it was terminated
 * and its disk is deleted, or about to be. `in_rescue`, `not_in_rescue`: it runs, or does not run, a rescue system.
 */
export const serverStates = statesOf<Server, Deciding>()({
  kind: 'server',
  statuses,
  obstacles: {
    locked,
    protected: {
      code: 'server_protected',
      // A terminated one is refused by its state.
      isMet: (server) => server.protected && server.status !== 'terminated',
      beforeStatus: true,
    },
    purged: { code: 'server_terminated', isMet: ({ purgeAt }) => purgeAt === null },
    in_rescue: { code: 'already_in_rescue', isMet: ({ rescue }) => !!rescue },
    not_in_rescue: { code: 'not_in_rescue', isMet: ({ rescue }) => !rescue },
    lost,
  },
  words: {
    server_busy: (s) => `${s} is being installed. Wait until its job has ended.`,
    not_set_up: (s) => `${s} is waiting for its setup: choose an image for it first.`,
    already_set_up: (s) => `${s} is already set up. To install another image, reinstall it.`,
    already_running: (s) => `${s} is already running.`,
    already_stopped: (s) => `${s} is stopped.`,
    server_suspended: (s) =>
      `${s} is suspended. It can be changed again when whoever suspended it unsuspends it; ` +
      'customers ask their provider.',
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
  },
  nameOf: ({ hostname }) => hostname,
  isLockedFor,
})
