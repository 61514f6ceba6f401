// Rescue in the state table of servers.
import { needsInstallation, serverStates } from '../server-records/state.ts'

export const rescueActions = serverStates.rows({
  rescue: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'in_rescue'] },
  exit_rescue: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'not_in_rescue'] },
})
