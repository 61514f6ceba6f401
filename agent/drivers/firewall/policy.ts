// The chains of a vm's policy, beside the checks of its addresses: limits, closed ports, and its firewall.
//
// A firewall remembers connections in sets and not with `ct`: not every kernel has that for bridges, and a guest that
// begins many fills the host's one table for all. Here each vm has sets of its own, of a fixed size. Both directions of
// a connection have the same key, which begins with the far side.
import type { PortPolicy } from '../../protocol/firewall.ts'
import type { PortRules } from '../../protocol/wire.ts'
import { rulesOf } from './filter-rules.ts'
import { block, chain, dropped, ipv4Number, ipv6At } from './nft-text.ts'

type Firewall = NonNullable<PortPolicy['firewall']>

/** VXLAN: a guest that could send it to the nodes would send frames into other owners' private networks. */
const VXLAN_PORT = 4789
/** Messages that IPv6 itself needs on a link. */
const LINK_MESSAGES =
  'icmpv6 type { nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, mld-listener-query, ' +
  'mld-listener-report, mld-listener-done, mld2-listener-report }'
/** Packets that say that one of the vm's own did not arrive. */
const ICMP_ERRORS = {
  ip: ['destination-unreachable', 'time-exceeded', 'parameter-problem'],
  ip6: ['destination-unreachable', 'packet-too-big', 'time-exceeded', 'parameter-problem'],
}
const TYPED = '{ tcp, udp, icmp, icmpv6 }'
/** Two sets of this size take 2 MB of the kernel; a few more connections, and the hash tables are twice as large. */
const CONNECTIONS_PER_VM = 49_000
/**
 * Entries that ended count against the size until then. Collecting each second, as the kernel does without this, takes
 * 13 % of a processor with 500 vms that do nothing.
 */
const COLLECTED_EVERY = '30s'
/** Sets that all vms share: a limit for each keeps one of them from filling them. */
const SHARED = 1_000_000
const DROPS = 131_072
const versions = ['ip', 'ip6'] as const
type Version = (typeof versions)[number]
const digit = (version: Version) => (version === 'ip' ? 4 : 6)
const icmp = (version: Version) => (version === 'ip' ? 'icmp' : 'icmpv6')
const only = (version: Version) => `ether type ${version}`

/** The vm's interface, and the far and the near end of a connection, as a packet in each direction has them. */
const ends = {
  sent: ['iifname', 'daddr', 'saddr', 'dport', 'sport'],
  received: ['oifname', 'saddr', 'daddr', 'sport', 'dport'],
} as const
type Way = keyof typeof ends
const ways = ['sent', 'received'] as const

const connection = (version: Version, way: Way) => {
  const [, far, near, farPort, nearPort] = ends[way]
  return `${version} ${far} . ${version} ${near} . meta l4proto . th ${farPort} . th ${nearPort}`
}
const exchange = (version: Version, way: Way) => `${ends[way][0]} . ${version} ${ends[way][1]} . meta l4proto`
const fragment = (version: Version, way: Way) =>
  `${ends[way][0]} . ${version} saddr . ${version} daddr . ${version === 'ip' ? 'ip id' : 'frag id'}`
const drop = (version: Version, way: Way) =>
  `${ends[way][0]} . ${version} saddr . ${version} daddr . meta l4proto . th dport`

const dynamicSet = (name: string, key: string, size: number, timeout: string) =>
  block(`set ${name}`, [
    `typeof ${key}`,
    `size ${size}`,
    'flags dynamic,timeout',
    `timeout ${timeout}`,
    `gc-interval ${COLLECTED_EVERY}`,
  ])

const ownErrors = versions.map(
  (version) => `${icmp(version)} type { ${ICMP_ERRORS[version].join(', ')} } limit rate 10000/second accept`,
)

// ---------------------------------------------------------------- the same for all vms
/** Sets and chains that every firewall uses. */
export const commonPolicy = [
  ...ways.flatMap((way) => dynamicSet(`rate_${way}`, ends[way][0], DROPS, '5m')),
  ...ways.flatMap((way) => dynamicSet(`frag_rate_${way}`, ends[way][0], DROPS, '1m')),
  ...ways.flatMap((way) => dynamicSet(`other_rate_${way}`, ends[way][0], DROPS, '1m')),
  ...versions.flatMap((version) => [
    ...dynamicSet(`others${digit(version)}`, exchange(version, 'sent'), SHARED, '1m'),
    ...dynamicSet(`frags${digit(version)}`, fragment(version, 'sent'), SHARED, '30s'),
    ...ways.flatMap((way) => dynamicSet(`drops_${way}${digit(version)}`, drop(version, way), DROPS, '10m')),
  ]),
  // A frame that is let through in spite of every firewall, before the rules of a vm.
  ...chain('always', [
    'ether type arp accept',
    // A guest may take a frame with the VLAN 0 for one without a tag.
    `ether type != { ip, ip6 } ${dropped('neither ARP nor IP')}`,
    `${LINK_MESSAGES} accept`,
  ]),
  ...chain('sendable', [`${LINK_MESSAGES} accept`, `udp dport ${VXLAN_PORT} ${dropped('VXLAN')}`]),
  ...ways.flatMap((way) => [
    // Later fragments have no ports: they pass with the first one.
    ...chain(`fragments_${way}`, [
      `ip frag-off & 0x1fff != 0 ${fragment('ip', way)} @frags4 accept`,
      `exthdr frag exists frag frag-off != 0 ${fragment('ip6', way)} @frags6 accept`,
    ]),
    ...chain(`pass_${way}`, [
      `ip frag-off & 0x3fff == 0x2000 ${firstFragments(way)} update @frags4 { ${fragment('ip', way)} }`,
      `exthdr frag exists frag frag-off 0 ${firstFragments(way)} update @frags6 { ${fragment('ip6', way)} }`,
      'accept',
    ]),
    // Packets of an exchange without ports that was let through.
    ...chain(`known_${way}`, [
      ...versions.flatMap((version) => [
        `${icmp(version)} type echo-reply ${exchange(version, way)} @others${digit(version)} accept`,
        `${only(version)} meta l4proto != ${TYPED} ${exchange(version, way)} @others${digit(version)} accept`,
      ]),
      // The guest's own errors. Those that it receives have to quote a packet of its own, see `errorsAbout`.
      ...(way === 'sent' ? ownErrors : []),
    ]),
    ...chain(`remember_${way}`, [
      `update @other_rate_${way} { ${ends[way][0]} limit rate over 500/second burst 500 packets } goto pass_${way}`,
      ...versions.map((version) => `${only(version)} update @others${digit(version)} { ${exchange(version, way)} }`),
      `goto pass_${way}`,
    ]),
    // Notes what is dropped, for its owner: so few that a flood costs little and one vm does not fill the sets.
    ...chain(`refuse_${way}`, [
      `update @rate_${way} { ${ends[way][0]} limit rate over 12/minute burst 50 packets } drop`,
      ...versions.map(
        (version) => `${only(version)} update @drops_${way}${digit(version)} { ${drop(version, way)} counter }`,
      ),
      'drop',
    ]),
  ]),
]

function firstFragments(way: Way) {
  return `update @frag_rate_${way} { ${ends[way][0]} limit rate 1000/second burst 1000 packets }`
}

// ---------------------------------------------------------------- the chains of a vm
/** The chain of what the vm sends, `<tap>_out`, and with a firewall the others. Throws `invalid_address`. */
export function policyChains(port: PortRules): string[] {
  const { tap, policy } = port
  const firewall = policy?.firewall
  return [
    ...(firewall ? [...sets(tap).flat(), ...firewallChains(port, firewall)] : []),
    ...chain(`${tap}_out`, [...limits(policy), ...(firewall ? outgoing(tap, firewall) : ['accept'])]),
  ]
}

/** The names of the chains and sets of a port beside `<tap>`, in an order in which they can be deleted. */
export function policyObjects({ tap, policy }: PortRules): { chains: string[]; sets: string[] } {
  const firewall = policy?.firewall
  return {
    chains: [`${tap}_out`, ...(firewall ? [`${tap}_in`, `${tap}_sent`, `${tap}_received`] : [])],
    sets: firewall ? versions.map((version) => flowsOf(tap, version)) : [],
  }
}

/** Is what is sent to the vm filtered? */
export const filtersIncoming = ({ policy }: PortRules) => !!policy?.firewall

const flowsOf = (tap: string, version: Version) => `${tap}_flows${digit(version)}`
const sets = (tap: string): string[][] =>
  versions.map((version) => dynamicSet(flowsOf(tap, version), connection(version, 'sent'), CONNECTIONS_PER_VM, '2h'))

function limits(policy: PortPolicy | undefined) {
  const { packetsPerSecond = null, newConnectionsPerSecond = null, closedPorts = [] } = policy ?? {}
  return [
    ...over(packetsPerSecond, '', 'too many packets'),
    'ether type arp accept',
    'jump sendable',
    ...closedPorts.map((port) => `tcp dport ${port} ${dropped('closed port')}`),
    ...over(newConnectionsPerSecond, 'tcp flags & (syn | ack) == syn ', 'too many new connections'),
  ]
}

/** A burst of a second's worth. */
const over = (limit: number | null, which: string, why: string) =>
  limit === null ? [] : [`${which}limit rate over ${limit}/second burst ${limit} packets ${dropped(why)}`]

/** Remembers the connection of a packet that is let through. A TCP connection that ends or has not begun is short. */
const remembers = (tap: string, way: Way) => [
  ...versions.flatMap((version) => {
    const flow = (most: string) =>
      `update @${flowsOf(tap, version)} { ${connection(version, way)} timeout ${most} } goto pass_${way}`
    return [
      `${only(version)} meta l4proto tcp tcp flags & (fin | rst) != 0x0 ${flow('1m')}`,
      `${only(version)} meta l4proto tcp tcp flags & (syn | ack) == syn ${flow('1m')}`,
      `${only(version)} meta l4proto tcp ${flow('2h')}`,
      `${only(version)} meta l4proto udp ${flow('3m')}`,
    ]
  }),
  `goto remember_${way}`,
]

/** Lets pass what belongs to something that was let through. */
const known = (tap: string, way: Way, target: string) => [
  ...versions.map((version) => `${connection(version, way)} @${flowsOf(tap, version)} goto ${target}`),
  `jump known_${way}`,
]

/** ICMP errors that quote a packet of the vm's own. The quoted header begins behind the 8 bytes of ICMP. */
const errorsAbout = ({ ipv4, ipv6 }: PortRules) => [
  ...ICMP_ERRORS.ip.flatMap((type) =>
    ipv4.map(
      (address) => `icmp type ${type} @th,160,32 ${ipv4Number(address)} limit rate 1000/second goto pass_received`,
    ),
  ),
  ...ICMP_ERRORS.ip6.flatMap((type) =>
    ipv6.map((cidr) => `icmpv6 type ${type} ${ipv6At(128, cidr)} limit rate 1000/second goto pass_received`),
  ),
]
const isOutFiltered = ({ out, rules }: Firewall) => out === 'drop' || rules.some(({ direction }) => direction === 'out')

const outgoing = (tap: string, firewall: Firewall) => [
  'jump fragments_sent',
  ...(isOutFiltered(firewall) ? known(tap, 'sent', `${tap}_sent`) : []),
  ...rulesOf(firewall.rules, 'out', { accept: `goto ${tap}_sent`, drop: 'goto refuse_sent' }),
  firewall.out === 'accept' ? `goto ${tap}_sent` : 'counter goto refuse_sent comment "default out"',
]

function firewallChains(port: PortRules, firewall: Firewall): string[] {
  const { tap } = port
  // An answer needs to be remembered only where a rule could refuse it.
  const accepted = isOutFiltered(firewall) ? `goto ${tap}_received` : 'goto pass_received'
  return [
    ...chain(`${tap}_sent`, remembers(tap, 'sent')),
    ...chain(`${tap}_received`, isOutFiltered(firewall) ? remembers(tap, 'received') : []),
    ...chain(`${tap}_in`, [
      'jump always',
      'jump fragments_received',
      ...known(tap, 'received', 'pass_received'),
      ...errorsAbout(port),
      ...rulesOf(firewall.rules, 'in', { accept: accepted, drop: 'goto refuse_received' }),
      firewall.in === 'accept' ? accepted : 'counter goto refuse_received comment "default in"',
    ]),
  ]
}
