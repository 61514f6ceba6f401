// The addresses of a server in the state table of servers.
import { needsInstallation, serverStates } from '../../compute/server-records/state.ts'

export const addressActions = serverStates.rows({
  addresses: { ...needsInstallation, pending_setup: 'allowed', refusedWhen: ['lost'] },
})
