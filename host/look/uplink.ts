// The uplink that was named, against what this machine has.
import { existsSync, realpathSync } from 'node:fs'
import { release } from 'node:os'
import { basename } from 'node:path'
import type { Flags } from '../flags.ts'
import { textOf } from '../machine/machine.ts'
import type { Problem } from './problem.ts'

/** Where the kernel shows its interfaces, its VLANs, and which modules there are for it. */
export type Kernel = { interfaces: string; vlans: string; modules: string }
const KERNEL: Kernel = { interfaces: '/sys/class/net', vlans: '/proc/net/vlan', modules: `/lib/modules/${release()}` }

/** A network card or a bond; a kernel with VLANs where some are named. */
export function uplinkProblems({ uplink, vlans }: Flags, kernel = KERNEL): Problem[] {
  if (uplink === undefined) return []
  const wrong = unfit(uplink, kernel)
  if (wrong) return [wrong]
  if (vlans === undefined || hasVlans(kernel)) return []
  return [
    {
      problem: 'The kernel of this machine has no VLANs: it lacks the module 8021q.',
      remedy: 'Start it with a kernel of the distribution, or leave --vlans out: then the uplink is only watched.',
    },
  ]
}

function unfit(uplink: string, { interfaces }: Kernel): Problem | undefined {
  const at = `${interfaces}/${uplink}`
  const instead = (what: string) => ({
    problem: `--uplink ${uplink} is ${what}.`,
    remedy: 'Name the network card or the bond that leads out of this machine; `ip link` lists them.',
  })
  if (!existsSync(at)) return instead('no interface of this machine')
  if (existsSync(`${at}/bridge`)) return instead('a bridge')
  const kind = /^DEVTYPE=(.*)$/m.exec(textOf(`${at}/uevent`) ?? '')?.[1]
  if (kind === 'vlan') return instead('itself a VLAN of another interface')
  if (uplink === 'lo') return instead('the loopback')
  if (!existsSync(`${at}/bonding_slave`)) return undefined
  const bond = basename(realpathSync(`${at}/master`))
  return { problem: `--uplink ${uplink} is part of ${bond}.`, remedy: `Name the bond: --uplink ${bond}.` }
}

/** Loaded, built in, or there to be loaded. */
const hasVlans = ({ vlans, modules }: Kernel) =>
  existsSync(vlans) ||
  ['modules.dep', 'modules.builtin'].some((list) => /(^|\/)8021q\.ko/m.test(textOf(`${modules}/${list}`) ?? ''))
