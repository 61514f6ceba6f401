// Consoles in the state table of servers.
import { needsInstallation, serverStates } from '../server-records/state.ts'

export const consoleActions = serverStates.rows({
  // Also while it is installed, and to see why that failed.
  console: {
    ...needsInstallation,
    provisioning: 'allowed',
    stopped: 'already_stopped',
    failed: 'allowed',
    refusedWhen: ['locked', 'lost'],
  },
})
