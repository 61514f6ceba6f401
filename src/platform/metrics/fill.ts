// How full storage pools were: a point every ten minutes, in the blocks of the coarser tiers. Nothing between is kept,
// because a pool fills slowly.
import { Type as t } from 'typebox'
import { node } from '../../fleet/node-records/model.ts'
import { metadataPercent, usedPercent } from '../../fleet/storage-pools/full.ts'
import { type PoolHealth, poolHealthByNode, poolsOn } from '../../fleet/storage-pools/queries.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { oneOf } from '../../kernel/api/query.ts'
import { day, iso, second } from '../../kernel/db/clock.ts'
import { type Db, type Tx, writeUnflushed } from '../../kernel/db/open.ts'
import { Block, blockAt, sixHours, type Tier, tenMinutes } from './blocks.ts'
import { findBlock, keepBlock } from './queries.ts'
import { noPoint, packed } from './series.ts'

/** The share in use of its space, and of that for metadata. */
const WIDTH = 2
/** Hundredths of a percent are stored. */
const SCALE = 100
/** Pools stored in one transaction: it keeps others waiting for some 10 ms. */
const AT_ONCE = 50

/** Stores how full each pool of a connected node is now. */
export async function storeFill(db: Db, now: number, isConnected: (nodeId: string) => boolean) {
  const due = [...poolHealthByNode(db)]
    .filter(([nodeId]) => isConnected(nodeId))
    .flatMap(([, pools]) => pools.filter((pool) => pool.missingSince === null && pool.silentSince === null))
  for (let at = 0; at < due.length; at += AT_ONCE) {
    writeUnflushed(db, (tx) => {
      for (const pool of due.slice(at, at + AT_ONCE)) keepFill(tx, pool, now)
    })
    await Bun.sleep(0)
  }
}

/** Stores how full a pool is, and computes anew what the coarser tier says of the time around it. */
export function keepFill(tx: Tx, pool: PoolHealth, now: number) {
  const point = noPoint()
  const scaled = (percent: number | null) => packed(percent === null ? undefined : percent * SCALE)
  point.set([scaled(usedPercent(pool)), scaled(metadataPercent(pool))])
  const block = blockOf(tx, tenMinutes, now, pool.id)
  block.set(now, point)
  keepBlock(tx, pool.id, block)
  const slot = Math.floor(now / sixHours.slotMs) * sixHours.slotMs
  const coarser = blockOf(tx, sixHours, now, pool.id)
  coarser.set(slot, block.mean(slot, slot + sixHours.slotMs))
  keepBlock(tx, pool.id, coarser)
}

const blockOf = (tx: Db, tier: Tier, at: number, id: string): Block => {
  const number = blockAt(tier, at)
  return findBlock(tx, tier, number, id, WIDTH) ?? Block.empty(tier, number, WIDTH)
}

/** Spans that end now, with the tier that answers them and its slots in one step. */
const spans = {
  '24h': { ms: day, tier: tenMinutes, slots: 1 },
  '30d': { ms: 30 * day, tier: sixHours, slots: 1 },
  '1y': { ms: 365 * day, tier: sixHours, slots: 4 },
} as const
type SpanName = keyof typeof spans
const spanNames = Object.keys(spans) as SpanName[]

const values = t.Array(nullable(t.Number()))

export const getStorageFill = operation({
  id: 'storage-pools.fill',
  method: 'GET',
  path: '/admin/nodes/{id}/storage-pools/fill',
  summary: 'How full each storage pool of a node was over time, in percent',
  access: { staff: ['nodes:read'] },
  on: node,
  query: { range: oneOf(spanNames, 'The time until now: 30 days when nothing is said.') },
  response: namedSchema('StorageFill', {
    nodeId: t.String(),
    from: described(time, 'The start of the first step.'),
    resolutionSeconds: described(t.Integer(), 'The length of a step.'),
    storagePools: t.Array(
      t.Object({
        id: t.String(),
        usedPercent: described(values, 'One value per step; null where nothing was measured.'),
        metadataPercent: described(values, 'The same of its space for metadata.'),
      }),
    ),
  }),
  run({ tx, target, query, clock }) {
    const { ms, tier, slots } = spans[(query['range'] ?? '30d') as SpanName]
    const [now, stepMs] = [clock(), tier.slotMs * slots]
    const from = Math.floor((now - ms) / stepMs) * stepMs + stepMs
    return {
      nodeId: target.id,
      from: iso(from),
      resolutionSeconds: stepMs / second,
      storagePools: poolsOn(tx, target.id).map(({ id }) => ({
        id,
        ...fillOf(tx, id, { from, to: now, tier, stepMs }),
      })),
    }
  },
})

type Steps = { from: number; to: number; tier: Tier; stepMs: number }
/** The highest value of each step: a pool that was full for an hour was full. */
function fillOf(tx: Db, id: string, { from, to, tier, stepMs }: Steps) {
  const blocks = new Map<number, Block | undefined>()
  for (let n = blockAt(tier, from); n <= blockAt(tier, to); n++) blocks.set(n, findBlock(tx, tier, n, id, WIDTH))
  const highest = (index: number) => {
    const found: (number | null)[] = []
    for (let step = from; step <= to; step += stepMs) {
      let most: number | null = null
      for (let at = step; at < step + stepMs; at += tier.slotMs) {
        const value = blocks.get(blockAt(tier, at))?.get(at, index)
        if (value !== undefined) most = Math.max(most ?? 0, value / SCALE)
      }
      found.push(most)
    }
    return found
  }
  return { usedPercent: highest(0), metadataPercent: highest(1) }
}
