// The operation behind each button of an instance: its access decides who is shown the button.
import type { Actor } from '../../kernel/api/actor.ts'
import type { Operation } from '../../kernel/api/operation.ts'
import { setInstanceHttpPorts } from './http/ports.ts'
import { deleteInstance, deleteOwnInstance } from './life/delete.ts'
import { suspendInstance, unsuspendInstance } from './life/suspend.ts'
import { powerInstance } from './run/power.ts'
import { rebuildInstance } from './run/rebuild.ts'
import { setInstanceEnvironment } from './settings/environment.ts'
import { renameInstance } from './settings/rename.ts'
import { setInstanceRestartPolicy } from './settings/restart-policy.ts'
import { setInstanceKeys } from './settings/ssh-keys.ts'
import type { Action } from './state.ts'

const actions = (): Record<Exclude<Action, 'delete'>, Operation> => ({
  start: powerInstance,
  stop: powerInstance,
  restart: powerInstance,
  rebuild: rebuildInstance,
  ssh_keys: setInstanceKeys,
  environment: setInstanceEnvironment,
  restart_policy: setInstanceRestartPolicy,
  http_ports: setInstanceHttpPorts,
  rename: renameInstance,
  suspend: suspendInstance,
  unsuspend: unsuspendInstance,
})
/** The operation by which this actor does it: staff delete by another path than owners. */
export const actionOf = (action: Action, { kind }: Pick<Actor, 'kind'>): Operation =>
  action === 'delete' ? (kind === 'staff' ? deleteInstance : deleteOwnInstance) : actions()[action]
