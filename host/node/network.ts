// The network of the guests, on a bridge of the operator's or on one of Berth's own.
import { existsSync } from 'node:fs'
import type { Flags } from '../flags.ts'
import type { Problem } from '../look/problem.ts'
import { type Machine, place, setting, settingLines } from '../machine/machine.ts'
import { Failed } from '../machine/report.ts'
import { addSupervised, installUnit } from '../services/install-service.ts'
import { addressIn, BRIDGE, networkEnv, networkUp } from './bridge.ts'

/** Of the guests on a bridge of Berth's own. */
export const SUBNET = '10.88.0.0/24'

/** `subnet` and `gateway` are undefined on a bridge of the operator's own for which none were said. */
export type GuestNetwork = { bridge: string; subnet?: string | undefined; gateway?: string | undefined; note: string }

/** The bridge that the operator has, or one of Berth's own with NAT to the outside. Throws `Failed`. */
export function makeNetwork(machine: Machine, flags: Pick<Flags, 'bridge' | 'subnet' | 'gateway'>): GuestNetwork {
  const { exec, hasSystemd } = machine
  const { bridge } = flags
  if (bridge !== undefined) {
    for (const { problem, remedy } of missingBridge(bridge)) throw new Failed(problem, remedy)
    return { bridge, subnet: flags.subnet, gateway: flags.gateway, note: `${bridge}, as it is` }
  }
  const subnet = flags.subnet ?? (setting(networkEnv(machine), 'SUBNET') || SUBNET)
  const gateway = flags.gateway ?? addressIn(subnet, 1)
  place(
    machine,
    networkEnv(machine),
    0o644,
    settingLines('Written by install.sh.', { BRIDGE, SUBNET: subnet, GATEWAY: gateway }),
  )
  if (hasSystemd) {
    installUnit(machine, 'berth-network')
    exec.run('systemctl', ['start', 'berth-network'])
  } else addSupervised(machine, 'network')
  networkUp(machine)
  return { bridge: BRIDGE, subnet, gateway, note: `${BRIDGE}, ${subnet}, NAT to the outside` }
}

/** Is it a bridge of this machine? */
export const missingBridge = (bridge: string): Problem[] =>
  existsSync(`/sys/class/net/${bridge}/bridge`)
    ? []
    : [
        {
          problem: `There is no bridge ${bridge} on this machine.`,
          remedy: `Make it first, or leave --bridge out: then ${BRIDGE} is made.`,
        },
      ]
