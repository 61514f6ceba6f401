// The checks of what a vm may send: frames with another's MAC address or IP address are counted and dropped. Allowed
// addresses come from the controller's allocation, never from what a guest sends.
//
// Checks that are the same for all vms stand in chains of their own. A chain per vm has no sets in braces: the kernel
// searches its list of sets for each, so that a node with many vms would load for minutes.
import type { PortRules } from '../../protocol/wire.ts'
import { block, chain, dropped, ipv6At, set } from './nft-text.ts'

/** The numbers of the extension headers that can follow that of a fragment. */
const EXTENSIONS = ['0', '43', '44', '51', '60', '135', '139', '140']
const NEIGHBOUR_DISCOVERY = 'ether type ip6 icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit }'
const ADVERTISEMENT = 'ether type ip6 icmpv6 type nd-neighbor-advert'
const FROM_NOWHERE = 'ether type ip6 ip6 saddr ::'

/** Every vm on the bridge receives these frames, so a flood of them loads all neighbours. */
const tooMuch = (name: string, what: string) =>
  `update @rate_${name} { iifname limit rate over 100/second burst 200 packets } ${dropped(`too much ${what}`)}`
const rateSet = (name: string) =>
  block(`set rate_${name}`, ['type ifname', 'size 65535', 'flags dynamic,timeout', 'timeout 1m'])

/** Checks of every frame of a vm, before its own chain; a frame that passes returns. */
export const commonChecks = [
  ...rateSet('arp'),
  ...rateSet('nd'),
  ...chain('from_any_vm', [
    // Both checks come first: a frame with a VLAN tag looks like IP to the rules below.
    `ether type != { arp, ip, ip6 } ${dropped('neither ARP nor IP')}`,
    `meta protocol != { arp, ip, ip6 } ${dropped('neither ARP nor IP')}`,
    `ether type arp ${tooMuch('arp', 'ARP')}`,
    `${NEIGHBOUR_DISCOVERY} ${tooMuch('nd', 'neighbour discovery')}`,
    `ether type ip udp sport 67 ${dropped('DHCP server')}`,
    // The options may push the header of the message, which the rules below look at, into a later fragment (RFC 7112).
    `ether type ip6 exthdr frag exists frag nexthdr ${set(EXTENSIONS)} ${dropped('fragment with options')}`,
    `ether type ip6 udp sport 547 ${dropped('DHCPv6 server')}`,
    `ether type ip6 icmpv6 type { nd-router-advert, nd-redirect } ${dropped('router advertisement')}`,
    // Small link-local addresses are configured by hand on routers. A guest derives its own from its MAC address or at
    // random.
    `ether type ip6 ip6 saddr fe80::/112 ${dropped('link-local address of a router')}`,
    `${ADVERTISEMENT} ${targetIn('fe80::/112')} ${dropped('neighbour advertisement for a router')}`,
    // The flags of TCP would lie in the second fragment, where no rule looks at them (RFC 1858).
    `ip frag-off & 0x1fff == 1 meta l4proto tcp ${dropped('TCP header in fragments')}`,
    `exthdr frag exists frag frag-off 1 frag nexthdr tcp ${dropped('TCP header in fragments')}`,
  ]),
]

/** The chain of a tap. A frame that passes goes on to `<tap>_out`. Throws `invalid_address` for an IPv6 prefix. */
export function spoofingChain({ tap, mac, ipv4, ipv6 }: PortRules): string[] {
  const passes = `goto ${tap}_out`
  return chain(tap, [
    `ether saddr != ${mac} ${dropped('foreign MAC address')}`,
    `ether type arp arp saddr ether != ${mac} ${dropped('ARP with a foreign MAC address')}`,
    // Address probe (RFC 5227): the guest asks whether its address is in use before it takes it.
    `ether type arp arp operation request arp saddr ip 0.0.0.0 ${passes}`,
    ...ipv4.map((address) => `ether type arp arp saddr ip ${address} ${passes}`),
    `ether type arp ${dropped('ARP for a foreign address')}`,
    ...ipv4.map((address) => `ether type ip ip saddr ${address} ${passes}`),
    ...ipv6Rules(passes, ['fe80::/10', ...ipv6]),
    dropped('not its address'),
  ])
}

const ipv6Rules = (passes: string, own: readonly string[]) => [
  // Duplicate address detection: a solicitation from :: precedes taking the address, so its target must be the vm's.
  ...own.map((cidr) => `${FROM_NOWHERE} icmpv6 type nd-neighbor-solicit ${targetIn(cidr)} ${passes}`),
  ...['nd-router-solicit', 'mld-listener-report', 'mld2-listener-report'].map(
    (type) => `${FROM_NOWHERE} icmpv6 type ${type} ${passes}`,
  ),
  ...own.flatMap((source) => own.map((target) => `${ADVERTISEMENT} ip6 saddr ${source} ${targetIn(target)} ${passes}`)),
  `${ADVERTISEMENT} ${dropped('neighbour advertisement for a foreign address')}`,
  ...own.map((cidr) => `ether type ip6 ip6 saddr ${cidr} ${passes}`),
]

/** A match on the target address of a neighbour message, 8 bytes into ICMPv6. */
function targetIn(cidr: string) {
  return ipv6At(64, cidr)
}
