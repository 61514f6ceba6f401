// Addresses as other panels write them: IPv6 in full length, netmasks with dots, ranges by their ends.
import { isIP } from 'node:net'
import { addressesOf, type LookUp, NameServerSilent, rangeOf } from '../../../../agent/protocol/net/pinned-request.ts'
import { toNetwork, toNumber, toText } from '../../../network/ip-pools/ranges.ts'
import { text } from './scalars.ts'

export type Address = { address: string; version: 4 | 6 }

/** An address in its shortest usual form; null where the value is none. */
export function address(value: unknown): Address | null {
  if (typeof value !== 'string') return null
  const written = value.trim()
  // The strict form of IPv4 is the usual one.
  if (isIP(written) === 4) return { address: written, version: 4 }
  const found = toNumber(written)
  return found ? { address: toText(found.version, found.n), version: found.version } : null
}

/** The length of a prefix: a number, or a netmask with dots. Null where the bits of the mask have gaps. */
export function prefixLength(value: unknown, version: 4 | 6): number | null {
  const most = version === 4 ? 32 : 128
  const written = text(value)
  if (written === null) return null
  if (/^\d{1,3}$/.test(written)) return Number(written) <= most ? Number(written) : null
  const mask = toNumber(written)
  if (!mask || mask.version !== version) return null
  const bits = mask.n.toString(2).padStart(most, '0')
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : null
}

/** The network around an address, as CIDR. */
export function networkOf(inside: string, length: number): string | null {
  const found = toNumber(inside)
  if (!found) return null
  const size = 1n << BigInt((found.version === 4 ? 32 : 128) - length)
  return `${toText(found.version, found.n - (found.n % size))}/${length}`
}

export type Ends = { first: string; last: string }

/** The first and the last address of a network. */
export function endsOf(cidr: string): Ends | null {
  const network = toNetwork(cidr)
  return network ? { first: toText(network.version, network.first), last: toText(network.version, network.last) } : null
}

/** The ends of two texts in their order; null where they are no addresses of one version. */
export function endsFrom(first: unknown, last: unknown): Ends | null {
  const a = typeof first === 'string' ? toNumber(first.trim()) : undefined
  const b = typeof last === 'string' ? toNumber(last.trim()) : undefined
  if (!a || !b || a.version !== b.version) return null
  const [low, high] = a.n <= b.n ? [a.n, b.n] : [b.n, a.n]
  return { first: toText(a.version, low), last: toText(a.version, high) }
}

/** The lowest and the highest of the addresses; null where there is none. All have one version. */
export function endsAmong(addresses: readonly string[]): Ends | null {
  let low: { n: bigint; version: 4 | 6 } | undefined
  let high: typeof low
  for (const one of addresses) {
    const found = toNumber(one)
    if (!found) continue
    if (!low || found.n < low.n) low = found
    if (!high || found.n > high.n) high = found
  }
  return low && high ? { first: toText(low.version, low.n), last: toText(high.version, high.n) } : null
}

/** A network as CIDR, whatever bits stand behind its prefix. */
export function network(value: unknown): { cidr: string; length: number; version: 4 | 6 } | null {
  const [base, length, more] = typeof value === 'string' ? value.trim().split('/') : []
  const found = address(base)
  if (!found || length === undefined || more !== undefined) return null
  const bits = prefixLength(length, found.version)
  const cidr = bits === null ? null : networkOf(found.address, bits)
  return cidr === null ? null : { cidr, length: bits!, version: found.version }
}

/** Addresses of a hypervisor that say nothing about which machine it is. */
const meaningless: ReadonlySet<string> = new Set(['loopback', 'linkLocal', 'unspecified', 'multicast', 'broadcast'])
export const isMeaningful = (one: string): boolean => !meaningless.has(rangeOf(one))

const HOST = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/
/** The meaningful addresses behind the names and addresses, each once. A name that leads nowhere has none. */
export async function resolvedAddresses(
  hosts: readonly (string | null)[],
  lookUp?: LookUp,
): Promise<readonly string[]> {
  const found = new Set<string>()
  for (const host of hosts) {
    if (host === null || (!isIP(host) && !HOST.test(host))) continue
    for (const one of await addressesOf(host, lookUp).catch(none)) {
      const parsed = address(one)
      if (parsed && isMeaningful(parsed.address)) found.add(parsed.address)
    }
  }
  return [...found]
}
function none(error: unknown): readonly string[] {
  if (error instanceof NameServerSilent) return []
  throw error
}
