// Backup plans in the state table of servers.
import { always, serverStates } from '../../server-records/state.ts'

export const planActions = serverStates.rows({
  backup_plan: { ...always, pending_setup: 'not_set_up', refusedWhen: [] },
})
