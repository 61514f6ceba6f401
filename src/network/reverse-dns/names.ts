// Names in the reverse tree of the DNS.
import { toNumber } from '../ip-pools/ranges.ts'

/** A host name with a domain, in lower case and without a dot at its end. */
export const HOST_NAME =
  '^(?=.{4,253}$)([A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$'

/** `203.0.113.5` → `5.113.0.203.in-addr.arpa`; IPv6 in nibbles under `ip6.arpa`. The address is one that was parsed. */
export function reverseNameFor(address: string): string {
  const { version, n } = toNumber(address)!
  if (version === 4) return `${address.split('.').reverse().join('.')}.in-addr.arpa`
  return `${[...n.toString(16).padStart(32, '0')].reverse().join('.')}.ip6.arpa`
}

const plain = (name: string) => name.toLowerCase().replace(/\.$/, '')
/** The zone that the name is in: of several the longest. As it is written among the zones; undefined: none. */
export function zoneOf(name: string, zones: readonly string[]): string | undefined {
  return zones
    .filter((zone) => name === plain(zone) || name.endsWith(`.${plain(zone)}`))
    .toSorted((a, b) => plain(b).length - plain(a).length)[0]
}
