// Floating addresses in the state table of servers.
import { needsInstallation, serverStates } from '../../compute/server-records/state.ts'

export const floatingActions = serverStates.rows({
  floating_ip: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
})
