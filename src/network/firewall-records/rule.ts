// A rule of a firewall: its form in the API, its checks, and the form that a node gets.
import ipaddr from 'ipaddr.js'
import { type Static, Type as t } from 'typebox'
import {
  directions,
  type FirewallRule,
  MOST_PORTS,
  MOST_REMOTES,
  protocols,
  verdicts,
} from '../../../agent/protocol/firewall.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, line, namedSchema } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'

/** 50 rules a server, and 50 each shared firewall. */
export const RULES_EACH = 50

const protocol = t.Union([t.Enum([...protocols]), t.Integer({ minimum: 0, maximum: 255 })])
/** The fields of a rule as a caller sends them. */
export const ruleFields = {
  name: t.Optional(line(100, 0)),
  direction: t.Enum([...directions]),
  action: t.Enum([...verdicts]),
  protocol: t.Optional(described(protocol, 'A number is one of the protocol numbers of IP; any without one.')),
  ports: t.Optional(
    described(
      t.Array(
        t.String({ maxLength: 11, pattern: '^[0-9]{1,5}(-[0-9]{1,5})?$', title: 'a port like 80 or 8000-8080' }),
        {
          maxItems: MOST_PORTS,
        },
      ),
      'Destination ports and ranges, such as 80 or 8000-8080, of TCP and UDP; every port without them.',
    ),
  ),
  remotes: t.Optional(
    described(
      t.Array(t.String({ maxLength: 49, minLength: 1 }), { maxItems: MOST_REMOTES }),
      'Addresses or CIDRs of the other side, of both versions; everybody without them.',
    ),
  ),
}
export const ruleBody = t.Object(ruleFields, { additionalProperties: false, title: 'FirewallRuleBody' })
export type RuleBody = Static<typeof ruleBody>
export const rulesBody = t.Array(ruleBody, { maxItems: RULES_EACH })

export const ruleResponse = namedSchema('FirewallRule', {
  id: t.String(),
  name: t.String(),
  direction: t.Enum([...directions]),
  action: t.Enum([...verdicts]),
  protocol,
  ports: t.Array(t.String()),
  remotes: t.Array(t.String()),
})
export type StoredRule = Static<typeof ruleResponse>

/** The rule with a new id. Throws `validation_failed` for ports or addresses that make no sense. */
export function ruleFrom({ name = '', protocol = 'any', ports = [], remotes = [], ...given }: RuleBody): StoredRule {
  if (ports.length && protocol !== 'tcp' && protocol !== 'udp')
    throw invalid({ field: 'ports', message: 'are of TCP and UDP only. Choose one of the two, or leave them out.' })
  return {
    id: newId('fwr'),
    name,
    ...given,
    protocol,
    ports: ports.map((range) => portsIn(range).join('-')).map((range) => range.replace(/^(\d+)-\1$/, '$1')),
    remotes: [...new Set(remotes.map((text, index) => remoteFrom(text, index, protocol)))],
  }
}

/** Throws `validation_failed`. */
function portsIn(range: string): [number, number] {
  const [first = 0, last = first] = range.split('-').map(Number)
  if (first > last || last > 65_535)
    throw invalid({ field: 'ports', message: 'must be from 0 to 65535, the smaller one of a range first.' })
  return [first, last]
}

/** IPv4 that is written as IPv6, such as `::ffff:192.0.2.1` in a log, in its own form: packets have no other. */
function unmapped(text: string): string {
  const [address = '', length] = text.split('/')
  if (!/^::ffff:/.test(address) || !ipaddr.IPv6.isValid(address)) return text
  const parsed = ipaddr.IPv6.parse(address)
  const bits = length === undefined ? 128 : Number(length)
  if (!parsed.isIPv4MappedAddress() || !(bits >= 96 && bits <= 128)) return text
  return `${parsed.toIPv4Address()}${length === undefined ? '' : `/${bits - 96}`}`
}

/** The network of an address or CIDR, with the bits behind the prefix zero. Throws `validation_failed`. */
function remoteFrom(text: string, index: number, protocol: StoredRule['protocol']): string {
  const wrong = (why: string) => invalid({ field: 'remotes', message: `has a mistake in entry ${index + 1}: ${why}` })
  const [address = '', length, ...rest] = unmapped(text.trim().toLowerCase()).split('/')
  const isIpv4 = ipaddr.IPv4.isValidFourPartDecimal(address)
  const isIpv6 = !address.includes('%') && ipaddr.IPv6.isValid(address)
  if ((!isIpv4 && !isIpv6) || rest.length || (length !== undefined && !/^\d{1,3}$/.test(length)))
    throw wrong('write an address or a range, such as 192.0.2.0/24 or 2001:db8::/32.')
  const most = isIpv4 ? 32 : 128
  const bits = length === undefined ? most : Number(length)
  if (bits > most) throw wrong(`the prefix has at most ${most} bits.`)
  if (protocol === (isIpv4 ? 'icmpv6' : 'icmp')) throw wrong(`${protocol} has addresses of the other version.`)
  const cidr = `${address}/${bits}`
  const network = isIpv4 ? ipaddr.IPv4.networkAddressFromCIDR(cidr) : ipaddr.IPv6.networkAddressFromCIDR(cidr)
  return `${network.toString()}/${bits}`
}

/** The rule as a node gets it. */
export const onNode = ({ id, direction, action, protocol, ports, remotes }: StoredRule): FirewallRule => ({
  id,
  direction,
  action,
  protocol,
  ports: ports.map(portsIn),
  remotes,
})

const SSH_PORT = 22
/** Can somebody begin an SSH connection? The first rule that fits everybody decides. */
export function letsSshIn(rules: readonly StoredRule[], otherwise: 'accept' | 'drop'): boolean {
  for (const { direction, action, protocol, ports, remotes } of rules) {
    const fits = protocol === 'any' || protocol === 'tcp' || protocol === 6
    const hasPort = !ports.length || ports.map(portsIn).some(([first, last]) => first <= SSH_PORT && SSH_PORT <= last)
    if (direction !== 'in' || !fits || !hasPort) continue
    if (action === 'accept') return true
    if (!remotes.length) return false
  }
  return otherwise === 'accept'
}

/** Ready rules for what most servers offer. */
export const services = {
  ssh: { name: 'SSH', protocol: 'tcp', ports: ['22'] },
  http: { name: 'HTTP', protocol: 'tcp', ports: ['80'] },
  https: { name: 'HTTPS', protocol: 'tcp', ports: ['443'] },
  rdp: { name: 'Remote Desktop', protocol: 'tcp', ports: ['3389'] },
  ping: { name: 'Ping', protocol: 'icmp' },
  ping6: { name: 'Ping over IPv6', protocol: 'icmpv6' },
} as const satisfies Record<string, Partial<RuleBody>>
export type Service = keyof typeof services
export const serviceNames = Object.keys(services) as Service[]

/** Has the firewall a rule that does the same for everybody? */
export const hasService = (rules: readonly StoredRule[], service: Service): boolean => {
  const { protocol, ports = [] }: Partial<RuleBody> = services[service]
  return rules.some(
    (rule) =>
      rule.direction === 'in' &&
      rule.action === 'accept' &&
      rule.protocol === protocol &&
      !rule.remotes.length &&
      rule.ports.join() === ports.join(),
  )
}
