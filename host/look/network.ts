// The network of the guests that was asked for, against itself and against what this machine has.
import { isIPv4 } from 'node:net'
import type { Flags } from '../flags.ts'
import { type Machine, setting } from '../machine/machine.ts'
import { addressIn, BRIDGE, networkEnv } from '../node/bridge.ts'
import { missingBridge, SUBNET } from '../node/network.ts'
import type { Problem } from './problem.ts'

const numberOf = (address: string) => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)

/** The first and the last address of a network, as numbers. */
function boundsOf(cidr: string): [number, number] {
  const first = numberOf(addressIn(cidr, 0))
  return [first, first + 2 ** (32 - Number(cidr.split('/')[1])) - 1]
}
const isIn = (address: string, cidr: string) => {
  const [first, last] = boundsOf(cidr)
  return numberOf(address) >= first && numberOf(address) <= last
}

export function networkProblems(machine: Machine, flags: Flags): Problem[] {
  if (flags.mode === 'controller') return []
  const { bridge, gateway, poolRange } = flags
  const before = setting(networkEnv(machine), 'SUBNET')
  const subnet = flags.subnet ?? (bridge === undefined ? before || SUBNET : undefined)
  const problems: Problem[] = []
  if (bridge !== undefined) problems.push(...missingBridge(bridge))
  if (subnet !== undefined && !isIPv4(subnet.split('/')[0]!))
    return [
      ...problems,
      { problem: `--subnet ${subnet} is no network.`, remedy: 'For example: --subnet 10.88.0.0/24.' },
    ]
  if (subnet !== undefined && gateway !== undefined && !(isIPv4(gateway) && isIn(gateway, subnet)))
    problems.push({
      problem: `The gateway ${gateway} is no address of ${subnet}.`,
      remedy: 'Name the gateway that guests have in that network.',
    })
  if (poolRange !== undefined) problems.push(...rangeProblems(poolRange, subnet, gateway))
  if (bridge === undefined) problems.push(...overlaps(machine, subnet!))
  return problems
}

function rangeProblems(range: string, subnet: string | undefined, gateway: string | undefined): Problem[] {
  const [first = '', last = ''] = range.split('-')
  const wrong = (problem: string, remedy: string) => [{ problem, remedy }]
  if (subnet === undefined)
    return wrong('--pool-range says addresses, and no --subnet says of which network.', 'Add --subnet and --gateway.')
  const example = `For example: --pool-range ${addressIn(subnet, 10)}-${addressIn(subnet, -6)}.`
  const strange = [first, last].filter((address) => !isIPv4(address) || !isIn(address, subnet))
  if (strange.length) return wrong(`--pool-range ${range}: ${strange.join(' and ')} is not in ${subnet}.`, example)
  if (numberOf(first) > numberOf(last)) return wrong(`--pool-range ${range} ends before it begins.`, example)
  const way = gateway ?? addressIn(subnet, 1)
  const reserved = [way, addressIn(subnet, 0), addressIn(subnet, -1)].filter(
    (address) => numberOf(address) >= numberOf(first) && numberOf(address) <= numberOf(last),
  )
  if (!reserved.length) return []
  return wrong(
    `--pool-range ${range} has ${reserved.join(' and ')} in it, which no server can have: ` +
      'the gateway, and the first and the last address of the network.',
    example,
  )
}

/** The guests' own network must not be one that this machine reaches already. */
function overlaps({ exec }: Machine, subnet: string): Problem[] {
  const [first, last] = boundsOf(subnet)
  const { out } = exec.ask('ip', ['-4', '-o', 'address', 'show'])
  return [...out.matchAll(/^\d+: (\S+)\s+inet ([0-9.]+\/\d+)/gm)]
    .filter(([, device, cidr]) => {
      if (device === BRIDGE || device === 'lo') return false
      const [from, to] = boundsOf(cidr!)
      return from <= last && to >= first
    })
    .map(([, device, cidr]) => ({
      problem: `The network of the guests, ${subnet}, overlaps with ${cidr} of ${device} on this machine.`,
      remedy: 'Name one that is free, such as --subnet 10.99.0.0/24, or a bridge that is there: --bridge NAME.',
    }))
}
