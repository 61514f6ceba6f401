// Snapshots in the state table of servers.
import { needsInstallation, serverStates } from '../server-records/state.ts'

export const snapshotActions = serverStates.rows({
  snapshot: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'in_rescue'] },
  restore_snapshot: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'protected', 'in_rescue'] },
  delete_snapshot: { ...needsInstallation, refusedWhen: ['locked', 'lost', 'protected', 'in_rescue'] },
})
