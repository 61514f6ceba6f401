import { SKEW_SHOWN_MS } from '../../../agent/protocol/monotonic-clock.ts'
import type { Uplink } from '../../../agent/protocol/wire.ts'
import { mayCall, type ReadContext } from '../../kernel/api/operation.ts'
import { type Attention, MOST_SHOWN, type Source, worstFirst } from '../../kernel/attention.ts'
import { iso, minuteText } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { VERSION } from '../../kernel/version.ts'
import { count, list, sentence } from '../../kernel/words.ts'
import { claimedPlacesOfEach } from '../../network/ip-pools/claims.ts'
import { nodesWithPool } from '../../network/ip-pools/queries.ts'
import { gpuHostRows } from '../gpus/queries.ts'
import { type NodeHealthRow, nodesHealth } from '../node-records/queries.ts'
import { MANY_NODES, shared } from '../node-records/shared.ts'
import { uplinkTroubles } from '../node-records/uplink.ts'
import { FULL_PERCENT, metadataPercent, usedPercent, WARN_PERCENT } from '../storage-pools/full.ts'
import { type PoolHealth, troubledPoolsByNode } from '../storage-pools/queries.ts'
import { almostFull, fullEffect, metadataAlmostFull, poolInWords } from '../storage-pools/words.ts'
import { countedByKind } from '../workloads/kind.ts'
import { type CountsByKind, kindsOnEach } from '../workloads/queries.ts'
import { described } from './misconduct.ts'
import { AWAY_SHOWN_MS, partWords } from './model.ts'
import { listNodes } from './nodes.ts'

const sharedTroubles = shared<{ nodes: number; rows: Attention[] }>(({ nodes }) => nodes > MANY_NODES)

/**
 * Each node in turn, by name: all that is wrong with it. Of many, the worst, and how many more there are. Of more than
 * a thousand nodes they are up to two seconds old.
 */
export const nodesInTrouble: Source = (call) =>
  mayCall(listNodes, call.actor) ? sharedTroubles(call.tx, {}, () => worstTroubles(call)).rows : []

function worstTroubles(call: ReadContext): { nodes: number; rows: Attention[] } {
  const all = nodesHealth(call.tx)
  const rows = troublesOf(call, all)
  const more = rows.length - MOST_SHOWN
  if (more <= 0) return { nodes: all.length, rows }
  const worst = worstFirst(rows)
  const last: Attention = {
    level: worst[MOST_SHOWN]!.level,
    what: `${count(more, 'more problem')} with nodes.`,
    effect: 'The list of nodes shows the state of each.',
    since: null,
    action: 'Show nodes',
    href: '/admin/nodes',
  }
  return { nodes: all.length, rows: [...worst.slice(0, MOST_SHOWN), last] }
}

/** The names of those who know that a node is away, and when they were told, in ms. */
export type Told = { told: readonly string[]; notedAt: number }

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Those who were told that a node is away, for each node that is. */
    toldAway?(tx: Db): ReadonlyMap<string, Told>
  }
}

type Node = NodeHealthRow & {
  /** Asked for few: those that are away or lost. */
  workloads(): CountsByKind
  /** Where one of them is in trouble. */
  pools: readonly PoolHealth[]
  gpuHost: boolean
  told: Told | undefined
}

function troublesOf(call: ReadContext, rows: readonly NodeHealthRow[]): Attention[] {
  const withPool = nodesWithPool(call.tx)
  const told = new Map(call.registry.features.flatMap(({ toldAway }) => [...(toldAway?.(call.tx) ?? [])]))
  // Each is judged again, by the very number: a share as a fraction of two is not exact.
  const pools = troubledPoolsByNode(call.tx, WARN_PERCENT - 1)
  const claimed = claimedPlacesOfEach(call.tx)
  const gpuHosts = new Set(gpuHostRows(call.tx).map(({ nodeId }) => nodeId))
  let listed: ReturnType<typeof kindsOnEach> | undefined
  const all: Node[] = rows.map((n) => ({
    ...n,
    workloads: () => (listed ??= kindsOnEach(call.tx)).get(n.id) ?? {},
    told: told.get(n.id),
    pools: pools.get(n.id) ?? [],
    gpuHost: gpuHosts.has(n.id),
  }))
  return all.flatMap((n) =>
    n.lostAt !== null
      ? lost(call, n, n.lostAt)
      : [
          ...reachable(call, n),
          ...silent(call, n),
          ...misbehaving(call, n),
          ...asItShouldBe(n, claimed.get(n.id) ?? 0),
          ...able(n),
          ...wired(n),
          ...(withPool.has(n.id) ? [] : withoutPool(call, n)),
          ...space(call, n),
          ...upToDate(call, n),
        ],
  )
}

/** A lost node is shown while something of it is left to decide. */
function lost({ registry }: ReadContext, n: Node, lostAt: number): Attention[] {
  const left = countedByKind(registry, n.workloads())
  return [
    {
      ...at(n),
      level: left ? 'down' : 'warn',
      what: `${n.name} is lost.`,
      effect: left ? `To be restored elsewhere or terminated: ${left}.` : 'Nothing on it is left. Remove it.',
      since: iso(lostAt),
    },
  ]
}

const at = ({ id }: NodeHealthRow) => ({ since: null, action: 'Open node', href: `/admin/nodes/${id}` })

/** `44 servers and 2 GPU instances most likely run on there, but cannot be seen or changed. Margit was told on …` */
function awayEffect({ registry }: ReadContext, { workloads, told }: Node): string {
  const counts = workloads()
  const affected = countedByKind(registry, counts)
  const isOne = Object.values(counts).reduce((sum, n) => sum + n, 0) === 1
  const effect = affected
    ? `${affected} most likely ${isOne ? 'runs' : 'run'} on there, but cannot be seen or changed.`
    : 'It takes no new servers.'
  if (!told?.told.length) return effect
  const [one, two, ...more] = told.told
  const names = list([one!, ...(two ? [two] : []), ...(more.length ? [`${more.length} more`] : [])])
  return `${effect} ${names} ${told.told.length === 1 ? 'was' : 'were'} told on ${minuteText(told.notedAt)}.`
}

function reachable(call: ReadContext, n: Node): Attention[] {
  const { nodes, clock } = call
  if (!nodes.connected(n.id) && clock() - n.seenAt > AWAY_SHOWN_MS)
    return [
      {
        ...at(n),
        level: 'down',
        what: `${n.name} does not answer.`,
        effect: awayEffect(call, n),
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

/** The node goes on reporting: what it says of its other parts is true. */
const silent = ({ nodes, clock }: ReadContext, n: Node): Attention[] =>
  (nodes.connected(n.id) ? (nodes.heartbeat(n.id)?.silent ?? []) : [])
    .filter(({ since }) => clock() - since > AWAY_SHOWN_MS)
    .map(({ part, since, why }) => ({
      ...at(n),
      level: 'down',
      what: `${n.name} is connected, but ${partWords[part].name} does not answer there.`,
      effect: `${partWords[part].effect} ${partWords[part].remedy} It says: ${sentence(why)}`,
      since: iso(since),
    }))

const misbehaving = ({ nodes }: ReadContext, n: NodeHealthRow): Attention[] =>
  nodes.misconduct(n.id).map((what) => ({ ...at(n), ...described(n.name, what), since: iso(what.since) }))

function asItShouldBe(n: NodeHealthRow, ofAddresses: number): Attention[] {
  const found =
    n.differences === '[]'
      ? 0
      : (JSON.parse(n.differences) as { kind: string }[]).filter((d) => d.kind !== 'foreign').length
  const differences = found + ofAddresses
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

/** A bond that has lost a port still works, and the next port takes it down. */
function wired(n: Node): Attention[] {
  const uplink = n.uplink === null ? undefined : (JSON.parse(n.uplink) as Uplink)
  if (!uplink) return []
  return uplinkTroubles(uplink).map(({ level, words, effect }) => ({
    ...at(n),
    level,
    what: `${n.name}: ${words}.`,
    effect,
  }))
}

/** A node that is there for GPU instances alone needs no virtual machines. */
const able = (n: Node): Attention[] =>
  n.kind === 'none' && !n.fake && (n.open || !n.gpuHost)
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

const space = (call: ReadContext, n: Node): Attention[] => n.pools.flatMap((pool) => poolTrouble(call, n, pool))

function poolTrouble({ clock }: ReadContext, n: Node, pool: PoolHealth): Attention[] {
  const page = { since: null, action: 'Show storage', href: `/admin/nodes/${n.id}/storage` }
  const which = n.pools.length > 1 ? `The storage pool ${pool.name} of ${n.name}` : `The storage of ${n.name}`
  const what = poolInWords(n.name, pool.name, n.pools.length)
  if (pool.missingSince !== null)
    return [
      {
        ...page,
        level: 'down',
        what: `${which} is gone: the node does not report it any more.`,
        effect: 'Servers with a disk in it cannot be started or changed. Bring the storage back on the node.',
        since: iso(pool.missingSince),
      },
    ]
  if (pool.silentSince !== null) return clock() - pool.silentSince <= AWAY_SHOWN_MS ? [] : silentPool(which, pool, page)
  const [used, metadata] = [usedPercent(pool) ?? 0, metadataPercent(pool) ?? 0]
  const trouble = (percent: number, what: string, space: string): Attention[] =>
    percent < WARN_PERCENT
      ? []
      : [
          {
            ...page,
            level: percent >= FULL_PERCENT ? 'bad' : 'warn',
            what: sentence(what),
            effect: `${fullEffect(percent >= FULL_PERCENT, FULL_PERCENT)} Free or add ${space}.`,
          },
        ]
  return [
    ...trouble(used, almostFull(what, pool), 'space on it'),
    ...trouble(metadata, metadataAlmostFull(what, pool), 'space for metadata'),
    ...(JSON.parse(pool.warnings) as string[]).map(
      (words): Attention => ({
        ...page,
        level: 'warn',
        what: `${which}: ${words}`,
        effect: 'The node says so. Look at the storage there.',
      }),
    ),
  ]
}

const silentPool = (which: string, { silentSince, warnings }: PoolHealth, page: Pick<Attention, 'action' | 'href'>) => [
  {
    ...page,
    level: 'down' as const,
    what: `${which} does not answer.`,
    effect:
      'Servers with a disk in it may hang, and cannot be started or changed; it takes no new disks, and its figures ' +
      'are the last that are known. See on the node what the storage lacks; once it answers, all goes on by itself. ' +
      (JSON.parse(warnings) as string[]).map(sentence).join(' '),
    since: iso(silentSince!),
  },
]

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
