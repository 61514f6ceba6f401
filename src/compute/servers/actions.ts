// The operation behind each button of a server: its access decides who is shown the button.
import type { Operation } from '../../kernel/api/operation.ts'
import { reinstallServer } from './install/reinstall.ts'
import { setupServer } from './install/setup.ts'
import { powerServer } from './power.ts'
import { changeServerPackage } from './settings/change-package.ts'
import { setRestartPolicy } from './settings/restart-policy.ts'
import type { Action } from './state.ts'
import { suspendServer, unsuspendServer } from './suspend.ts'
import { terminateServer } from './terminate.ts'

/** Renaming answers with the record that `allowed` is a part of, and its button stands beside the name. */
export const actions: Record<Exclude<Action, 'rename'>, Operation> = {
  start: powerServer,
  shutdown: powerServer,
  off: powerServer,
  restart: powerServer,
  setup: setupServer,
  reinstall: reinstallServer,
  suspend: suspendServer,
  unsuspend: unsuspendServer,
  terminate: terminateServer,
  restart_policy: setRestartPolicy,
  change_package: changeServerPackage,
}
export const allActions = Object.keys(actions) as (keyof typeof actions)[]
