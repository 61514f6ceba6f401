// The policy of one vm's port: what its firewall accepts, what is closed to every guest, and how much it may send.
import { type Static, Type as t } from 'typebox'
import { line } from './bounds.ts'

/** Rules of one server, those of its groups included: each has at most 50 of its own, and 5 groups of 50. */
export const MOST_RULES = 300
/** Addresses and ports of one rule. */
export const MOST_REMOTES = 50
export const MOST_PORTS = 15

export const directions = ['in', 'out'] as const
export type Direction = (typeof directions)[number]
/** Not `reject`: the kernel can answer for a vm only before it knows the port of the bridge that a packet goes to. */
export const verdicts = ['accept', 'drop'] as const
export type Verdict = (typeof verdicts)[number]
export const protocols = ['any', 'tcp', 'udp', 'icmp', 'icmpv6'] as const

/** A CIDR of either version with every bit behind the prefix zero, e.g. `10.0.0.0/8` or `2001:db8::/32`. */
const cidr = t.String({ maxLength: 43, pattern: '^[0-9a-f.:]+/[0-9]{1,3}$' })
const ruleId = t.String({ pattern: '^[a-z0-9_]{1,40}$' })
const port = t.Integer({ minimum: 0, maximum: 65_535 })

/** One rule. The first that fits a packet decides; none: the default of the direction. */
export const FirewallRule = t.Object({
  /** Its counters have this name. */
  id: ruleId,
  direction: t.Enum([...directions]),
  action: t.Enum([...verdicts]),
  /** A number is one of IP's protocol numbers, such as 47 for GRE. */
  protocol: t.Union([t.Enum([...protocols]), t.Integer({ minimum: 0, maximum: 255 })]),
  /** Destination ports, first and last; only for TCP and UDP. Empty: every port. */
  ports: t.Array(t.Tuple([port, port]), { maxItems: MOST_PORTS }),
  /** The other side: the source of incoming and the destination of outgoing packets. Empty: everybody. */
  remotes: t.Array(cidr, { maxItems: MOST_REMOTES }),
})
export type FirewallRule = Static<typeof FirewallRule>

const perSecond = t.Union([t.Integer({ minimum: 1, maximum: 100_000_000 }), t.Null()])

/** The limits and the firewall of a vm's port, beside the checks of its addresses. */
export const PortPolicy = t.Object({
  /** Counts up with every change: the node keeps the policy with the highest. */
  revision: t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  /** TCP ports that the guest cannot connect to, such as 25. */
  closedPorts: t.Array(port, { maxItems: MOST_PORTS }),
  /** TCP connections that the guest may begin; null: not limited. */
  newConnectionsPerSecond: perSecond,
  /** Packets that the guest may send; null: not limited. */
  packetsPerSecond: perSecond,
  /** Null: the firewall is off, and everything else passes. */
  firewall: t.Union([
    t.Object({
      in: t.Enum(['accept', 'drop']),
      out: t.Enum(['accept', 'drop']),
      rules: t.Array(FirewallRule, { maxItems: MOST_RULES }),
    }),
    t.Null(),
  ]),
})
export type PortPolicy = Static<typeof PortPolicy>

/** The counters of a firewall since its rules were last loaded. */
export const FirewallReport = t.Object({
  rules: t.Array(
    t.Object({
      id: ruleId,
      packets: t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      bytes: t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    { maxItems: 2 * MOST_RULES },
  ),
  /** Dropped packets by reason, as `drop comment` names it. */
  dropped: t.Array(
    t.Object({
      reason: line(60),
      packets: t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    { maxItems: 100 },
  ),
  /** Packets that were dropped within the last ten minutes, latest first: a sample of a few a minute. */
  drops: t.Array(
    t.Object({
      direction: t.Enum([...directions]),
      remote: t.String({ pattern: '^[0-9a-f.:]{2,45}$' }),
      protocol: t.Integer({ minimum: 0, maximum: 255 }),
      /** The destination port; null for a protocol without ports. */
      port: t.Union([port, t.Null()]),
      packets: t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      /** Seconds since the last one. */
      secondsAgo: t.Integer({ minimum: 0, maximum: 100_000 }),
    }),
    { maxItems: 100 },
  ),
})
export type FirewallReport = Static<typeof FirewallReport>
