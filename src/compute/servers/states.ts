// The actions of this feature in the state table of servers.
import { type Actor, idOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { type Server, server, serverKind } from '../server-records/model.ts'
import { always, needsInstallation, serverStates } from '../server-records/state.ts'

export const serverActions = serverStates.rows({
  start: { ...needsInstallation, running: 'already_running', refusedWhen: ['locked'] },
  shutdown: { ...needsInstallation, stopped: 'already_stopped', refusedWhen: ['locked'] },
  off: { ...needsInstallation, stopped: 'already_stopped', refusedWhen: ['locked'] },
  restart: { ...needsInstallation, stopped: 'already_stopped', refusedWhen: ['locked'] },
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
  restart_policy: { ...needsInstallation, pending_setup: 'allowed', refusedWhen: ['locked'] },
  change_package: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
  boot_order: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
  iso: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
})
export const { mustAllow, mustAllowFor, refusalsOf } = serverActions

/** Servers, as the actions see them that every kind of workload has. */
export const actingServer = {
  kind: serverKind,
  prefix: 'servers',
  path: '/servers/{id}',
  resource: server,
  states: serverActions,
  nameOf: ({ hostname }: Server) => hostname,
} as const

/**
 * Protection is against slips of those who have the server, and of their tokens. Its provider ends it all the same, and
 * the undelete window is the net: nobody ends it without the window, or ends the window.
 */
export function mustBeEndable(actor: Actor, server: Server, immediately: boolean) {
  if (!server.protected) return
  if (immediately || server.ownerId === idOf(actor))
    throw new ApiError('server_protected', serverActions.wordsOf('server_protected', server))
}
