// Addresses and names that follow from the place of an instance on its host. Each instance has a network of four
// addresses and a bridge of its own, so that no frame of one instance ever reaches another.
import ipaddr from 'ipaddr.js'
import { Failure } from '../../failure.ts'
import { slotOf } from '../container/ids.ts'
import type { InstanceNetwork } from './access.ts'

/** Every bridge of an instance has this prefix. */
export const BRIDGE_PREFIX = 'bgi'
/** Addresses for instances alone; `PANEL_AGENT_INSTANCE_NETWORK` names others where these are in use. */
const USUAL = '10.208.0.0/14'
const BITS = 14

/** The network of all instances, as first address and CIDR. Throws `instance_network` when it is no IPv4 `/14`. */
export function networkOfAll(cidr = process.env['PANEL_AGENT_INSTANCE_NETWORK'] || USUAL): {
  first: number
  cidr: string
} {
  const wrong = () =>
    new Failure('instance_network', `PANEL_AGENT_INSTANCE_NETWORK is no IPv4 network a.b.0.0/14: ${cidr}`)
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) throw wrong()
  const [address, bits] = ipaddr.IPv4.parseCIDR(cidr)
  const first = Buffer.from(address.octets).readUInt32BE()
  if (bits !== BITS || first % 2 ** (32 - BITS) !== 0) throw wrong()
  return { first, cidr }
}

/** The network of the instance with this number. */
export function networkOf(number: number): InstanceNetwork {
  const slot = slotOf(number)
  const subnet = networkOfAll().first + slot * 4
  const hex = Buffer.from([slot >> 8, slot & 255]).toString('hex')
  return {
    name: `berth-${slot}`,
    interface: `${BRIDGE_PREFIX}${slot}`,
    subnet: `${textOf(subnet)}/30`,
    gateway: textOf(subnet + 1),
    address: textOf(subnet + 2),
    // Locally administered. The same after each start, because a neighbour remembers another one for half a minute.
    mac: `02:62:67:69:${hex.slice(0, 2)}:${hex.slice(2)}`,
  }
}

const textOf = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
