// Moves in the state table of servers.
import { needsInstallation, serverStates } from '../server-records/state.ts'

export const transferActions = serverStates.rows({
  // A suspended server is off, and stays so on its new node.
  move: { ...needsInstallation, pending_setup: 'allowed', suspended: 'allowed', refusedWhen: ['lost', 'in_rescue'] },
  relocate: {
    ...needsInstallation,
    pending_setup: 'allowed',
    refusedWhen: ['locked', 'protected', 'lost', 'in_rescue'],
  },
})
