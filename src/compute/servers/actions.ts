// The operation behind each button of a server: its access decides who is shown the button.
import type { Operation } from '../../kernel/api/operation.ts'
import { addServerAddress } from '../../network/server-addresses/add.ts'
import { createConsoleTicket } from '../console/create-ticket.ts'
import { detectOs } from '../guest/detect.ts'
import { resetPassword } from '../guest/root-password.ts'
import { reinstallServer } from '../installation/reinstall.ts'
import { setupServer } from '../installation/setup.ts'
import { rescueServer } from '../rescue/enter.ts'
import { exitRescue } from '../rescue/exit.ts'
import type { Action } from '../server-records/state.ts'
import { changeSpeed } from '../speed/change.ts'
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
export const allActions = Object.keys(actions) as (keyof typeof actions)[]
