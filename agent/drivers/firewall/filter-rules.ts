// The rules of a server's firewall as lines for nft.
import ipaddr from 'ipaddr.js'
import { Failure } from '../../failure.ts'
import type { Direction, FirewallRule, Verdict } from '../../protocol/firewall.ts'
import { set } from './nft-text.ts'

/** Where a packet goes on. */
type Targets = Readonly<Record<Verdict, string>>

/** Rules of one direction, in their order; `targets` says where a packet goes on. Throws `invalid_address`. */
export const rulesOf = (rules: readonly FirewallRule[], direction: Direction, targets: Targets): string[] =>
  rules.filter((rule) => rule.direction === direction).flatMap((rule) => linesOf(rule, targets))

/** So many elements stand in a line each: sets in braces make loading slow on a node with many vms. */
const FEW = 4

/** A line for each version of IP, and for each element where there are few. */
function linesOf(rule: FirewallRule, targets: Targets): string[] {
  const { protocol, remotes, direction, id } = rule
  const end = `counter ${targets[rule.action]} comment "${id}"`
  const side = direction === 'in' ? 'saddr' : 'daddr'
  const { v4, v6 } = byVersion(remotes)
  const sources = remotes.length
    ? [
        ...(protocol === 'icmpv6' ? [] : matches(`ip ${side}`, v4)),
        ...(protocol === 'icmp' ? [] : matches(`ip6 ${side}`, v6)),
      ]
    : ['']
  return sources.flatMap((from) => portsOf(rule).map((what) => [from, what, end].filter(Boolean).join(' ')))
}

function portsOf({ protocol, ports }: FirewallRule): string[] {
  if (protocol === 'any') return ['']
  if (protocol === 'icmp') return ['ether type ip meta l4proto icmp']
  if (protocol === 'icmpv6') return ['ether type ip6 meta l4proto icmpv6']
  if ((protocol !== 'tcp' && protocol !== 'udp') || !ports.length) return [`meta l4proto ${protocol}`]
  const ranges = joined(ports).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
  return matches(`${protocol} dport`, ranges)
}

const matches = (what: string, elements: readonly string[]) =>
  elements.length > FEW ? [`${what} ${set(elements)}`] : elements.map((element) => `${what} ${element}`)

/** The same ports in ranges that do not touch: nft refuses a set whose ranges overlap. */
function joined(ports: FirewallRule['ports']): [number, number][] {
  const ranges: [number, number][] = []
  for (const [first, last] of ports.toSorted((a, b) => a[0] - b[0])) {
    const before = ranges.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else ranges.push([first, Math.max(first, last)])
  }
  return ranges
}

/** The prefixes of each version without those that lie in another. Throws `invalid_address`. */
function byVersion(remotes: readonly string[]): { v4: string[]; v6: string[] } {
  const parsed = [...new Set(remotes)].map((text) => {
    if (!ipaddr.isValidCIDR(text)) throw new Failure('invalid_address', `${text} is no address range`)
    const [address, bits] = ipaddr.parseCIDR(text)
    return { text, address, bits, kind: address.kind() }
  })
  const outer = parsed.filter(
    (one) =>
      !parsed.some(
        (other) =>
          other !== one &&
          other.kind === one.kind &&
          (other.bits < one.bits || (other.bits === one.bits && other.text < one.text)) &&
          one.address.match([other.address, other.bits] as [never, number]),
      ),
  )
  return {
    v4: outer.filter(({ kind }) => kind === 'ipv4').map(({ text }) => text),
    v6: outer.filter(({ kind }) => kind === 'ipv6').map(({ text }) => text),
  }
}
