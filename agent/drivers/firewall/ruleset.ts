// The rules as text for nft. The table of the bridge family has a chain per vm, which named verdict maps find by its
// tap, so that the change of one vm is a small transaction. The table of the inet family closes the host to the vms.
//
// Not used, because not every kernel has it in the bridge family: ct, reject, meta ibrname, fib.
import { type PortRules, TAP_PREFIX } from '../../protocol/wire.ts'
import { block, chain, dropped, set, TABLE } from './nft-text.ts'
import { commonPolicy, filtersIncoming, policyChains, policyObjects } from './policy.ts'
import { commonChecks, spoofingChain } from './spoofing.ts'

/** The mark of packets that came from a vm. The host's own rules see the bridge and not the tap. */
const FROM_VM = '0x08000000'
const MAP_FROM = 'from_vms'
const MAP_TO = 'to_vms'
export const MAPS = [MAP_FROM, MAP_TO] as const

/**
 * Everything as one transaction, which replaces the old tables. `hostPorts`: ports of the host that vms may reach.
 * Throws `invalid_address`.
 */
export function ruleset(all: readonly PortRules[], hostPorts: readonly number[] = []): string {
  const ports = all.toSorted((a, b) => a.tap.localeCompare(b.tap, 'en', { numeric: true }))
  return text([
    `table bridge ${TABLE}`,
    `delete table bridge ${TABLE}`,
    ...block(`table bridge ${TABLE}`, [
      ...commonChecks,
      ...commonPolicy,
      // A chain or set exists before the first line that names it.
      ...ports.flatMap(policyChains),
      ...ports.flatMap(spoofingChain),
      ...verdictMap(MAP_FROM, ports.map(fromVm)),
      ...verdictMap(MAP_TO, ports.filter(filtersIncoming).map(toVm)),
      ...entrance,
    ]),
    `table inet ${TABLE}`,
    `delete table inet ${TABLE}`,
    ...block(`table inet ${TABLE}`, hostChains(hostPorts)),
  ])
}

/**
 * The change of one vm's rules as one transaction: what its firewall remembers stays. `old`: its rules in force;
 * undefined where it has none. `next` undefined: it has none from now on. Throws `invalid_address`.
 */
export function change(old: PortRules | undefined, next: PortRules | undefined): string {
  const before = old ? objectsOf(old) : { chains: [], sets: [] }
  const after = next ? objectsOf(next) : { chains: [], sets: [] }
  const gone = (kind: 'chains' | 'sets') => before[kind].filter((name) => !after[kind].includes(name))
  const isSameTap = old?.tap === next?.tap
  return text([
    ...(old && !(next && isSameTap) ? [`delete element bridge ${TABLE} ${MAP_FROM} { ${fromVm(old)} }`] : []),
    ...(old && filtersIncoming(old) && !(next && isSameTap && filtersIncoming(next))
      ? [`delete element bridge ${TABLE} ${MAP_TO} { ${toVm(old)} }`]
      : []),
    ...before.chains.map((name) => `flush chain bridge ${TABLE} ${name}`),
    ...gone('chains').map((name) => `delete chain bridge ${TABLE} ${name}`),
    ...gone('sets').map((name) => `delete set bridge ${TABLE} ${name}`),
    ...(next
      ? [
          ...block(`table bridge ${TABLE}`, [...policyChains(next), ...spoofingChain(next)]),
          `add element bridge ${TABLE} ${MAP_FROM} { ${fromVm(next)} }`,
          ...(filtersIncoming(next) ? [`add element bridge ${TABLE} ${MAP_TO} { ${toVm(next)} }`] : []),
        ]
      : []),
  ])
}

/** The names of a vm's chains and sets. The chain of the tap comes first, because it leads to the others. */
export function objectsOf(port: PortRules): { chains: string[]; sets: string[] } {
  const { chains, sets } = policyObjects(port)
  return { chains: [port.tap, ...chains], sets }
}

/** The elements of both verdict maps, as nft lists them. */
export const elementsOf = (ports: readonly PortRules[]): string[] => [
  ...ports.map(fromVm),
  ...ports.filter(filtersIncoming).map(toVm),
]

const fromVm = ({ tap }: PortRules) => `"${tap}" : jump ${tap}`
const toVm = ({ tap }: PortRules) => `"${tap}" : jump ${tap}_in`
const verdictMap = (name: string, elements: readonly string[]) =>
  block(`map ${name}`, ['type ifname : verdict', ...(elements.length ? [`elements = ${set(elements)}`] : [])])

/**
 * A tap with our prefix and no rules sends nothing: rules are loaded before a vm starts and removed after it is gone.
 * Traffic to a vm comes over another port of the bridge or from the host itself.
 */
const entrance = [
  ...chain('entrance', [
    'type filter hook prerouting priority -300; policy accept;',
    `iifname != "${TAP_PREFIX}*" accept`,
    `meta mark set meta mark | ${FROM_VM}`,
    'jump from_any_vm',
    `iifname vmap @${MAP_FROM}`,
    dropped('no vm of this node'),
  ]),
  ...['forward', 'output'].flatMap((hook) =>
    chain(`to_vm_${hook}`, [`type filter hook ${hook} priority -300; policy accept;`, `oifname vmap @${MAP_TO}`]),
  ),
]

const PINGS = 'echo-request, echo-reply, destination-unreachable, time-exceeded'
const NEIGHBOURS =
  'nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert, mld-listener-report, mld2-listener-report'

/** Without connection tracking: an answer to a connection that the host began has no lone SYN. */
const hostChains = (hostPorts: readonly number[]) => [
  ...chain('host', [
    'type filter hook input priority -300; policy accept;',
    `meta mark & ${FROM_VM} == ${FROM_VM} jump from_vms`,
  ]),
  ...chain('from_vms', [
    `icmp type { ${PINGS} } limit rate 1000/second accept`,
    `icmpv6 type { ${PINGS}, packet-too-big } limit rate 1000/second accept`,
    `icmpv6 type { ${NEIGHBOURS} } accept`,
    ...(hostPorts.length ? [`meta l4proto { tcp, udp } th dport ${set(hostPorts)} accept`] : []),
    'meta l4proto tcp tcp flags & (syn | ack) != syn accept',
    dropped('port of this node'),
  ]),
]

const text = (lines: readonly string[]) => [...lines, ''].join('\n')
