// The buttons of a server. The access of an operation decides who is shown its button, the state table of its feature
// when.
import type { Operation } from '../../kernel/api/operation.ts'
import { addServerAddress } from '../../network/server-addresses/add.ts'
import { addressActions } from '../../network/server-addresses/states.ts'
import { createConsoleTicket } from '../console/create-ticket.ts'
import { consoleActions } from '../console/states.ts'
import { detectOs } from '../guest/detect.ts'
import { resetPassword } from '../guest/root-password.ts'
import { guestActions } from '../guest/states.ts'
import { reinstallServer } from '../installation/reinstall.ts'
import { setupServer } from '../installation/setup.ts'
import { installationActions } from '../installation/states.ts'
import { rescueServer } from '../rescue/boot.ts'
import { exitRescue } from '../rescue/exit.ts'
import { rescueActions } from '../rescue/states.ts'
import { changeSpeed } from '../speed/change.ts'
import { speedActions } from '../speed/states.ts'
import { changeServerOwner } from './life/change-owner.ts'
import { suspendServer, unsuspendServer } from './life/suspend.ts'
import { terminateServer } from './life/terminate.ts'
import { undeleteServer } from './life/undelete.ts'
import { powerServer } from './power.ts'
import { setBootOrder } from './settings/boot-order.ts'
import { changeServerPackage } from './settings/change-package.ts'
import { setIso } from './settings/iso.ts'
import { setProtection } from './settings/protection.ts'
import { setRestartPolicy } from './settings/restart-policy.ts'
import { serverActions } from './states.ts'

const tables = [
  serverActions,
  installationActions,
  guestActions,
  rescueActions,
  consoleActions,
  speedActions,
  addressActions,
] as const
type KeysOf<T> = T extends unknown ? keyof T : never
type Action = Exclude<KeysOf<(typeof tables)[number]['table']>, 'rename'>

/** Renaming answers with the record that `allowed` is a part of, and its button stands beside the name. */
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
  undelete: undeleteServer,
  protect: setProtection,
  change_owner: changeServerOwner,
  console: createConsoleTicket,
  restart_policy: setRestartPolicy,
  speed: changeSpeed,
  change_package: changeServerPackage,
  boot_order: setBootOrder,
  iso: setIso,
  rescue: rescueServer,
  exit_rescue: exitRescue,
  addresses: addServerAddress,
  reset_password: resetPassword,
  detect_os: detectOs,
}
export const allActions = Object.keys(actions) as Action[]

type Deciding = Parameters<typeof serverActions.disabledReason>[0]
const reasons = new Map(
  tables.flatMap(({ actions, disabledReason }) =>
    actions.map((action) => [action as string, disabledReason as (deciding: Deciding, action: string) => unknown]),
  ),
)
/** Do status and obstacles allow the action? */
export const isAllowed = (deciding: Deciding, action: Action): boolean => !reasons.get(action)!(deciding, action)
