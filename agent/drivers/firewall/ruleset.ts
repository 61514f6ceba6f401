// The rules as text for nft: one table of the bridge family with a chain per vm, which counts and drops every frame
// that the vm may not send. Allowed addresses come from the controller's allocation, never from what a guest sends.
//
// Not used, because not every kernel has it in this family: ct, reject, meta ibrname.
import ipaddr from 'ipaddr.js'
import { Failure } from '../../failure.ts'
import { type PortRules, TAP_PREFIX } from '../../protocol/wire.ts'

export const TABLE = 'berth'
const NEIGHBOUR_DISCOVERY = 'ether type ip6 icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit }'
/** The numbers of the extension headers that can follow that of a fragment. */
const EXTENSIONS = ['0', '43', '44', '51', '60', '135', '139', '140']
const ADVERTISEMENT = 'icmpv6 type nd-neighbor-advert'

/**
 * The whole table as one transaction, which replaces the old table. Throws `invalid_address` for an invalid IPv6
 * prefix.
 */
export function ruleset(all: readonly PortRules[]): string {
  const ports = all.toSorted((a, b) => a.tap.localeCompare(b.tap, 'en', { numeric: true }))
  return [
    `table bridge ${TABLE}`,
    `delete table bridge ${TABLE}`,
    `table bridge ${TABLE} {`,
    ...indent([...entrance(ports), ...ports.flatMap(portChain)]),
    '}',
    '',
  ].join('\n')
}

/**
 * A tap with our prefix and no rules sends nothing: rules are loaded before a vm starts and removed after it is gone.
 */
const entrance = (ports: readonly PortRules[]) =>
  chain('entrance', [
    'type filter hook prerouting priority -300; policy accept;',
    ...(ports.length ? [`iifname vmap { ${ports.map(({ tap }) => `"${tap}" : jump ${tap}`).join(', ')} }`] : []),
    `iifname "${TAP_PREFIX}*" ${dropped('no vm of this node')}`,
  ])

function portChain(rules: PortRules): string[] {
  const { tap, mac, ipv4, ipv6 } = rules
  return chain(tap, [
    `ether saddr != ${mac} ${dropped('foreign MAC address')}`,
    // Both checks come first: a frame with a VLAN tag looks like IP to the rules below.
    `ether type != { arp, ip, ip6 } ${dropped('neither ARP nor IP')}`,
    `meta protocol != { arp, ip, ip6 } ${dropped('neither ARP nor IP')}`,
    `ether type arp ${tooMuch('ARP')}`,
    `${NEIGHBOUR_DISCOVERY} ${tooMuch('neighbour discovery')}`,
    ...arpRules(mac, ipv4),
    ...ipv4Rules(ipv4),
    ...ipv6Rules(ipv6),
    dropped('not its address'),
  ])
}

const arpRules = (mac: string, ipv4: readonly string[]) => [
  `ether type arp arp saddr ether != ${mac} ${dropped('ARP with a foreign MAC address')}`,
  // Address probe (RFC 5227): the guest asks whether its address is in use before it takes it.
  'ether type arp arp operation request arp saddr ip 0.0.0.0 accept',
  ...(ipv4.length ? [`ether type arp arp saddr ip ${set(ipv4)} accept`] : []),
  `ether type arp ${dropped('ARP for a foreign address')}`,
]

const ipv4Rules = (ipv4: readonly string[]) => [
  `ether type ip udp sport 67 ${dropped('DHCP server')}`,
  ...(ipv4.length ? [`ether type ip ip saddr ${set(ipv4)} accept`] : []),
]

const ipv6Rules = (ipv6: readonly string[]) => {
  const own = ['fe80::/10', ...ipv6]
  return [
    // The options may push the header of the message, which the rules below look at, into a later fragment (RFC 7112).
    `ether type ip6 exthdr frag exists frag nexthdr ${set(EXTENSIONS)} ${dropped('fragment with options')}`,
    `ether type ip6 udp sport 547 ${dropped('DHCPv6 server')}`,
    `ether type ip6 icmpv6 type { nd-router-advert, nd-redirect } ${dropped('router advertisement')}`,
    // Small link-local addresses are configured by hand on routers. A guest derives its own from its MAC address or at
    // random.
    `ether type ip6 ip6 saddr fe80::/112 ${dropped('link-local address of a router')}`,
    `ether type ip6 ${ADVERTISEMENT} ${targetIn('fe80::/112')} ${dropped('neighbour advertisement for a router')}`,
    // Duplicate address detection: a solicitation from :: precedes taking the address, so the target must be the vm's
    // own.
    ...own.map((cidr) => `ether type ip6 ip6 saddr :: icmpv6 type nd-neighbor-solicit ${targetIn(cidr)} accept`),
    'ether type ip6 ip6 saddr :: icmpv6 type { nd-router-solicit, mld-listener-report, mld2-listener-report } accept',
    ...own.map((cidr) => `ether type ip6 ip6 saddr ${set(own)} ${ADVERTISEMENT} ${targetIn(cidr)} accept`),
    `ether type ip6 ${ADVERTISEMENT} ${dropped('neighbour advertisement for a foreign address')}`,
    `ether type ip6 ip6 saddr ${set(own)} accept`,
  ]
}

/** A match on the target address of a neighbour message, 8 bytes into ICMPv6; this nft has no keyword for it. */
function targetIn(cidr: string): string {
  const { bits, value } = prefixOf(cidr)
  return `@th,64,${bits} 0x${value.toString(16)}`
}

/** The length of an IPv6 prefix and its first `bits` bits as a number. Throws `invalid_address`. */
export function prefixOf(cidr: string): { bits: number; value: bigint } {
  const [address = '', length = ''] = cidr.split('/')
  const bits = Number(length)
  if (address.includes('%') || !ipaddr.IPv6.isValid(address) || !/^\d+$/.test(length) || bits < 1 || bits > 128)
    throw new Failure('invalid_address', `${cidr} is no IPv6 prefix`)
  return { bits, value: numberOf(address) >> BigInt(128 - bits) }
}

const numberOf = (address: string): bigint =>
  ipaddr.IPv6.parse(address).parts.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n)

/** Every vm on the bridge receives these frames, so a flood of them loads all neighbours. */
const tooMuch = (what: string) => `limit rate over 100/second burst 200 packets ${dropped(`too much ${what}`)}`
const dropped = (why: string) => `counter drop comment "${why}"`
const set = (elements: readonly string[]) => `{ ${elements.join(', ')} }`
const indent = (lines: readonly string[]) => lines.map((line) => `  ${line}`)
const chain = (name: string, rules: readonly string[]) => [`chain ${name} {`, ...indent(rules), '}']
