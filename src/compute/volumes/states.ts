// Extra volumes in the state table of servers.
import { needsInstallation, serverStates } from '../server-records/state.ts'

export const volumeActions = serverStates.rows({
  volume: { ...needsInstallation, refusedWhen: ['locked', 'lost'] },
  // Also of a server whose installation failed or that can be brought back: the volume is its owner's.
  detach_volume: {
    ...needsInstallation,
    failed: 'allowed',
    terminated: 'allowed',
    refusedWhen: ['locked', 'lost', 'protected'],
  },
})
