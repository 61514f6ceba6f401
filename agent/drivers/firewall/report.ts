// The counters of a vm's firewall, read from nft's JSON.
import type { Direction, FirewallReport } from '../../protocol/firewall.ts'

const MOST_DROPS = 100
const KEPT_SECONDS = 600
/** Comments of counters that belong to no rule, see policy.ts. */
const DEFAULTS: Readonly<Record<string, string>> = { 'default in': 'default_in', 'default out': 'default_out' }

type Counter = { packets?: number; bytes?: number }
type Rule = { comment?: string; expr?: ({ counter?: Counter; drop?: unknown } & Record<string, unknown>)[] }
type Element = { elem?: { val?: { concat?: (string | number)[] }; counter?: Counter; expires?: number } }
type Listed = { nftables?: { rule?: Rule; set?: { name?: string; elem?: Element[] } }[] }

const protocols: Readonly<Record<string, number>> = {
  icmp: 1,
  tcp: 6,
  udp: 17,
  gre: 47,
  esp: 50,
  ah: 51,
  'ipv6-icmp': 58,
  icmpv6: 58,
  sctp: 132,
  udplite: 136,
  dccp: 33,
  comp: 108,
}

/** `lists`: the chains of the vm and the sets of what was dropped, as nft lists them. */
export function reportOf(tap: string, lists: readonly Listed[]): FirewallReport {
  const rules = new Map<string, { packets: number; bytes: number }>()
  const dropped = new Map<string, number>()
  const drops: FirewallReport['drops'] = []
  for (const { rule, set } of lists.flatMap(({ nftables = [] }) => nftables)) {
    if (rule?.comment !== undefined) count(rule.comment, rule, rules, dropped)
    for (const element of set?.elem ?? []) {
      const one = dropOf(tap, set?.name?.startsWith('drops_sent') ? 'out' : 'in', element)
      if (one) drops.push(one)
    }
  }
  return {
    rules: [...rules].map(([id, counted]) => ({ id, ...counted })),
    dropped: [...dropped].map(([reason, packets]) => ({ reason, packets })),
    drops: drops.toSorted((a, b) => a.secondsAgo - b.secondsAgo).slice(0, MOST_DROPS),
  }
}

function count(
  comment: string,
  { expr = [] }: Rule,
  rules: Map<string, { packets: number; bytes: number }>,
  dropped: Map<string, number>,
) {
  const { packets = 0, bytes = 0 } = expr.find(({ counter }) => counter)?.counter ?? {}
  // A rule of the firewall leads to another chain; what is dropped at once is a check of ours.
  if (expr.some((one) => 'drop' in one)) {
    if (packets) dropped.set(comment, (dropped.get(comment) ?? 0) + packets)
    return
  }
  const id = DEFAULTS[comment] ?? comment
  const before = rules.get(id) ?? { packets: 0, bytes: 0 }
  rules.set(id, { packets: before.packets + packets, bytes: before.bytes + bytes })
}

function dropOf(tap: string, direction: Direction, { elem }: Element): FirewallReport['drops'][number] | undefined {
  const [of, source, destination, protocol, port] = elem?.val?.concat ?? []
  if (of !== tap) return undefined
  const number = typeof protocol === 'number' ? protocol : (protocols[String(protocol)] ?? 255)
  const hasPorts = number === protocols['tcp'] || number === protocols['udp']
  return {
    direction,
    remote: String(direction === 'in' ? source : destination).slice(0, 45),
    protocol: number,
    port: hasPorts && typeof port === 'number' ? port : null,
    packets: elem?.counter?.packets ?? 0,
    secondsAgo: Math.max(0, KEPT_SECONDS - (elem?.expires ?? KEPT_SECONDS)),
  }
}
