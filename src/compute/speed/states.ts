// Speed in the state table of servers.
import { always, serverStates } from '../server-records/state.ts'

export const speedActions = serverStates.rows({
  speed: { ...always, provisioning: 'server_busy', refusedWhen: ['lost'] },
})
