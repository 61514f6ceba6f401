import { SKEW_SHOWN_MS } from '../../../agent/protocol/monotonic-clock.ts'
import { mayCall, type ReadContext } from '../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { iso } from '../../kernel/db/clock.ts'
import { VERSION } from '../../kernel/version.ts'
import { count } from '../../kernel/words.ts'
import { nodesWithPool } from '../../network/ip-pools/queries.ts'
import { described } from './misconduct.ts'
import { AWAY_SHOWN_MS } from './model.ts'
import { listNodes } from './nodes.ts'
import { type NodeHealthRow, nodesHealth } from './queries.ts'

/** Each node in turn, by name: all that is wrong with it. Of many, the worst, and how many more there are. */
export const nodesInTrouble: Source = (call) => {
  if (!mayCall(listNodes, call.actor)) return []
  const rows = troublesOf(call)
  if (rows.length <= MOST_SHOWN) return rows
  const worst = [...rows.filter(({ level }) => level === 'bad'), ...rows.filter(({ level }) => level === 'warn')]
  const more = rows.length - MOST_SHOWN
  return [
    ...worst.slice(0, MOST_SHOWN),
    {
      level: worst[MOST_SHOWN]!.level,
      what: `${count(more, 'more problem')} with nodes.`,
      effect: 'The list of nodes shows the state of each.',
      since: null,
      action: 'Show nodes',
      href: '/admin/nodes',
    },
  ]
}

function troublesOf(call: ReadContext): Attention[] {
  const withPool = nodesWithPool(call.tx)
  return nodesHealth(call.tx).flatMap((n) =>
    n.lostAt !== null
      ? lost(n, n.lostAt)
      : [
          ...reachable(call, n),
          ...misbehaving(call, n),
          ...asItShouldBe(n),
          ...able(n),
          ...(withPool.has(n.id) ? [] : withoutPool(call, n)),
          ...space(n),
          ...upToDate(call, n),
        ],
  )
}

/** A lost node is shown while something of it is left to decide. */
const lost = (n: NodeHealthRow, lostAt: number): Attention[] => [
  {
    ...at(n),
    level: 'bad',
    what: `${n.name} is lost.`,
    effect: n.workloads
      ? `To be restored elsewhere or terminated: ${count(n.workloads, 'server')}.`
      : 'Nothing on it is left. Remove it.',
    since: iso(lostAt),
  },
]

const at = ({ id }: NodeHealthRow) => ({ since: null, action: 'Open node', href: `/admin/nodes/${id}` })

function reachable({ nodes, clock }: ReadContext, n: NodeHealthRow): Attention[] {
  if (!nodes.connected(n.id) && clock() - n.seenAt > AWAY_SHOWN_MS)
    return [
      {
        ...at(n),
        level: 'bad',
        what: `${n.name} is not connected.`,
        effect:
          n.workloads === 1
            ? 'Its one server keeps running but cannot be changed.'
            : n.workloads
              ? `Its ${count(n.workloads, 'server')} keep running but cannot be changed.`
              : 'It takes no new servers.',
        since: iso(n.seenAt),
      },
    ]
  if (Math.abs(n.skewMs) <= SKEW_SHOWN_MS) return []
  return [
    {
      ...at(n),
      level: 'warn',
      what:
        `The clock of ${n.name} is ${Math.round(Math.abs(n.skewMs) / 1000)} s ` +
        `${n.skewMs > 0 ? 'ahead' : 'behind'}.`,
      effect: 'Times in logs mislead and certificates may be refused. Set up time synchronisation on it.',
    },
  ]
}

const misbehaving = ({ nodes }: ReadContext, n: NodeHealthRow): Attention[] =>
  nodes.misconduct(n.id).map((what) => ({ ...at(n), ...described(n.name, what), since: iso(what.since) }))

function asItShouldBe(n: NodeHealthRow): Attention[] {
  const differences = (JSON.parse(n.differences) as { kind: string }[]).filter((d) => d.kind !== 'foreign').length
  if (!differences) return []
  return [
    {
      level: 'warn',
      what: `${n.name} differs from what should be on it in ${count(differences, 'place')}.`,
      effect: 'Nothing is changed automatically. Review each difference and decide.',
      since: null,
      action: 'Show differences',
      href: `/admin/nodes/${n.id}#differences`,
    },
  ]
}

const able = (n: NodeHealthRow): Attention[] =>
  n.kind === 'none' && !n.fake
    ? [
        {
          ...at(n),
          level: 'bad',
          what: `${n.name} cannot run servers.`,
          effect: 'Neither KVM nor emulation works there; `berth agent doctor` on it says why.',
        },
      ]
    : []

/** A node that was enrolled and is to be used. One that is away or closed has no need of addresses. */
const withoutPool = ({ nodes }: ReadContext, n: NodeHealthRow): Attention[] =>
  n.open && nodes.connected(n.id)
    ? [
        {
          level: 'warn',
          what: `${n.name} has no address pool yet.`,
          effect: 'It takes no orders for servers with addresses.',
          since: null,
          action: 'Add address pool',
          href: '/admin/ip-pools',
        },
      ]
    : []

/** Shares of a node's storage: below the first it is shown, below the second placement keeps the rest. */
const LITTLE = 0.1
const NONE = 0.05

function space(n: NodeHealthRow): Attention[] {
  if (n.poolFreeBytes === null || !n.poolBytes || n.poolFreeBytes >= n.poolBytes * LITTLE) return []
  const isFull = n.poolFreeBytes < n.poolBytes * NONE
  const gib = (bytes: number) => Math.floor(bytes / 1024 ** 3)
  return [
    {
      ...at(n),
      level: isFull ? 'bad' : 'warn',
      what: `The storage of ${n.name} is nearly full: ${gib(n.poolFreeBytes)} of ${gib(n.poolBytes)} GiB are left.`,
      effect: isFull
        ? 'It takes no new servers, and servers pause when nothing is left. Free or add space on it.'
        : 'Soon it will take no new servers. Free or add space on it.',
    },
  ]
}

const upToDate = ({ nodes }: ReadContext, n: NodeHealthRow): Attention[] =>
  n.version !== VERSION && nodes.connected(n.id)
    ? [
        {
          ...at(n),
          level: 'warn',
          what: `The agent of ${n.name} is ${n.version}, the controller ${VERSION}.`,
          effect: 'New features may not work there until it is updated.',
        },
      ]
    : []

export const plainHttp: Source = ({ actor, config }) =>
  config.agentInsecure && mayCall(listNodes, actor)
    ? [
        {
          level: 'bad',
          what: 'Nodes may enroll over plain HTTP (PANEL_AGENT_INSECURE=1).',
          effect: 'For test setups only: whoever is on the network can read and change what is sent.',
          since: null,
          action: 'How to set up HTTPS',
          href: '/admin#https',
        },
      ]
    : []
