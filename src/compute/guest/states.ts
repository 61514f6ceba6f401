// Actions on the system inside a server in the state table of servers.
import { needsInstallation, serverStates } from '../server-records/state.ts'

export const guestActions = serverStates.rows({
  reset_password: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'in_rescue'] },
  detect_os: { ...needsInstallation, stopped: 'already_stopped', refusedWhen: ['lost', 'in_rescue'] },
})
