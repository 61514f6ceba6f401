// The rules of private networks, in tables of their own: those of public ports are loaded apart from them.
import { isIP } from 'node:net'
import type { PrivateNetwork } from '../../protocol/wire.ts'
import { block, chain, dropped, set } from '../firewall/nft-text.ts'
import { commonChecks, spoofingChain } from '../firewall/spoofing.ts'

export const TABLE = 'berth_private'
/** Every tap on a private network has this prefix. */
const TAPS = 'btp*'
const TUNNELS = 'bpx*'
export const VXLAN_PORT = 4789

/**
 * Both tables as one transaction. A port sends with its own MAC and addresses alone, and one without rules sends
 * nothing; none reaches the host. VXLAN knows no sender: the host takes it from the peers of its networks and from
 * nobody else. Throws `invalid_address`.
 */
export function privateRuleset(networks: readonly PrivateNetwork[]): string {
  const ports = networks.flatMap((network) => network.ports)
  const jumps = ports.map(({ tap }) => `"${tap}" : jump ${tap}`)
  const peers = [...new Set(networks.flatMap((network) => network.peers.map(({ address }) => address)))]
  return [
    ...replaced('bridge', [
      ...commonChecks,
      ...ports.flatMap(({ tap }) => chain(`${tap}_out`, ['accept'])),
      ...ports.flatMap(portChain),
      ...chain('entrance', [
        'type filter hook prerouting priority -290; policy accept;',
        `iifname != "${TAPS}" accept`,
        'jump from_any_vm',
        ...(jumps.length ? [`iifname vmap ${set(jumps)}`] : []),
        dropped('no port of a private network'),
      ]),
      // The host answers for all of its addresses on every interface, also on one that has none.
      ...chain('host', [
        'type filter hook input priority -290; policy accept;',
        ...[TAPS, TUNNELS].map((from) => `iifname "${from}" ${dropped('no business with the host')}`),
      ]),
    ]),
    ...replaced(
      'inet',
      chain('input', [
        'type filter hook input priority -10; policy accept;',
        ...([4, 6] as const).flatMap((version) => accepted(version, peers)),
        `udp dport ${VXLAN_PORT} ${dropped('no peer of a private network')}`,
      ]),
    ),
    '',
  ].join('\n')
}

function portChain({ workload, tap, mac, addresses }: PrivateNetwork['ports'][number]): string[] {
  const plain = addresses.map((cidr) => cidr.split('/')[0]!)
  const of = (version: 4 | 6) => plain.filter((address) => isIP(address) === version)
  return spoofingChain({ workload, tap, mac, ipv4: of(4), ipv6: of(6).map((address) => `${address}/128`) })
}

function accepted(version: 4 | 6, peers: readonly string[]): string[] {
  const those = peers.filter((peer) => isIP(peer) === version)
  const source = version === 4 ? 'ip saddr' : 'ip6 saddr'
  return those.length ? [`udp dport ${VXLAN_PORT} ${source} ${set(those)} accept`] : []
}

const replaced = (family: string, lines: readonly string[]) => [
  `table ${family} ${TABLE}`,
  `delete table ${family} ${TABLE}`,
  ...block(`table ${family} ${TABLE}`, lines),
]
