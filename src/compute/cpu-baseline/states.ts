// The change of the CPU model in the state table of servers.
import { needsInstallation, serverStates } from '../server-records/state.ts'

export const cpuActions = serverStates.rows({
  cpu_model: { ...needsInstallation, pending_setup: 'allowed', suspended: 'allowed', refusedWhen: ['lost'] },
})
