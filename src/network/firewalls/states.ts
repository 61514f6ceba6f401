// Firewalls in the state table of servers.
import { always, needsInstallation, serverStates } from '../../compute/server-records/state.ts'

export const firewallActions = serverStates.rows({
  firewall: { ...always, refusedWhen: ['locked'] },
  // Asks the node, which has rules of a server that is installed.
  count_firewall: { ...needsInstallation, suspended: 'allowed', refusedWhen: ['lost'] },
  smtp: { ...always, refusedWhen: [] },
})
