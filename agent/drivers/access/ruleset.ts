// The rules of instances, in a table of their own that comes before those of the container engine. Nothing of a host is
// reached from an instance but its name servers; other instances are reached as the internet reaches them.
import { block, chain, dropped, set } from '../firewall/nft-text.ts'
import type { InstanceNetwork } from './access.ts'
import { BRIDGE_PREFIX } from './addresses.ts'

export const TABLE = 'berth_instances'
const BRIDGES = `"${BRIDGE_PREFIX}*"`

/** Networks that are nobody's on the internet, the operator's own among them. */
const PRIVATE = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
]
/** Spam from one instance would bring all addresses of the host into disrepute. */
const MAIL_PORTS = [25, 465, 587]

export type InstanceRules = {
  network: InstanceNetwork
  /** Its own IPv4 address, or null. */
  address: string | null
  ports: readonly { container: number; host: number }[]
}

/** The table as one transaction. `all`: the network of all instances, which is never routed to the outside. */
export function instanceRuleset(
  instances: readonly InstanceRules[],
  nameServers: readonly string[],
  all: string,
): string {
  return [
    `table inet ${TABLE}`,
    `delete table inet ${TABLE}`,
    ...block(`table inet ${TABLE}`, [
      ...named(
        'set addresses',
        'ifname . ipv4_addr',
        instances.map(({ network }) => `"${network.interface}" . ${network.address}`),
      ),
      ...named(
        'map inwards',
        'ipv4_addr : ipv4_addr',
        own(instances, (address, inner) => `${address} : ${inner}`),
      ),
      ...named(
        'map outwards',
        'ipv4_addr : ipv4_addr',
        own(instances, (address, inner) => `${inner} : ${address}`),
      ),
      ...named('map ports', 'inet_proto . inet_service : ipv4_addr . inet_service', instances.flatMap(portsOf)),
      ...chain('input', [
        'type filter hook input priority -10; policy accept;',
        `iifname ${BRIDGES} jump from_instance_to_host`,
      ]),
      ...chain('from_instance_to_host', [
        ...itself,
        'ct state established,related accept',
        ...allowedNames(nameServers),
        'icmp type echo-request limit rate 100/second accept',
        dropped('host'),
      ]),
      ...chain('forward', [
        'type filter hook forward priority -10; policy accept;',
        `iifname ${BRIDGES} jump from_instance`,
        `oifname ${BRIDGES} jump to_instance`,
        `ip daddr ${all} ${dropped('instance that is off')}`,
      ]),
      ...chain('from_instance', [
        ...itself,
        'ct state established,related accept',
        ...allowedNames(nameServers),
        // The public address or port of another instance.
        'ct status dnat accept',
        `ip daddr ${set(PRIVATE)} ${dropped('private network')}`,
        `tcp dport ${set(MAIL_PORTS)} ${dropped('mail')}`,
        'accept',
      ]),
      ...chain('to_instance', [
        'ct state established,related accept',
        'ct status dnat accept',
        dropped('port that is not published'),
      ]),
      ...['prerouting', 'output'].flatMap((hook) =>
        chain(`to_${hook}`, [
          `type nat hook ${hook} priority -110; policy accept;`,
          'dnat ip to ip daddr map @inwards',
          'fib daddr type local ip daddr != 127.0.0.0/8 dnat ip to meta l4proto . th dport map @ports',
        ]),
      ),
      ...chain('postrouting', [
        'type nat hook postrouting priority 90; policy accept;',
        `oifname != ${BRIDGES} snat ip to ip saddr map @outwards`,
      ]),
    ]),
    '',
  ].join('\n')
}

/** Packets with another address than the instance's own. */
const itself = [
  `meta nfproto != ipv4 ${dropped('no IPv4')}`,
  `iifname . ip saddr != @addresses ${dropped('address of another')}`,
]

const allowedNames = (servers: readonly string[]) =>
  servers.length ? [`ip daddr ${set(servers)} meta l4proto { tcp, udp } th dport 53 accept`] : []

const named = (head: string, type: string, elements: readonly string[]) =>
  block(head, [`type ${type}`, ...(elements.length ? [`elements = ${set(elements)}`] : [])])

const own = (instances: readonly InstanceRules[], line: (address: string, inner: string) => string) =>
  instances.flatMap(({ address, network }) => (address === null ? [] : [line(address, network.address)]))

const portsOf = ({ network: { address }, ports }: InstanceRules) =>
  ports.flatMap(({ container, host }) =>
    ['tcp', 'udp'].map((protocol) => `${protocol} . ${host} : ${address} . ${container}`),
  )
