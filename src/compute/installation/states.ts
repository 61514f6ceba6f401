// Installations in the state table of servers.
import { needsInstallation, serverStates } from '../server-records/state.ts'

export const installationActions = serverStates.rows({
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
})
