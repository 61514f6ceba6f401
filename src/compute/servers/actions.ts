// What can be done with a server, each with the operation that does it: who may is said there.
import type { Operation } from '../../kernel/api/operation.ts'
import { powerServer } from './power.ts'
import type { Action } from './server.ts'
import { reinstallServer, setupServer } from './setup.ts'
import { suspendServer, unsuspendServer } from './suspend.ts'
import { terminateServer } from './terminate.ts'

export const actions: Record<Action, Operation> = {
  start: powerServer,
  shutdown: powerServer,
  off: powerServer,
  restart: powerServer,
  setup: setupServer,
  reinstall: reinstallServer,
  suspend: suspendServer,
  unsuspend: unsuspendServer,
  terminate: terminateServer,
}
export const allActions = Object.keys(actions) as Action[]
