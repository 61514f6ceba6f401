// The metrics of all workloads and nodes: taken in, held for an hour, and stored in blocks a few at a time.
import type { HostSample, MetricsSample } from '../../../agent/protocol/wire.ts'
import { type Clock, minute } from '../../kernel/db/clock.ts'
import { type Db, type Tx, writeUnflushed } from '../../kernel/db/open.ts'
import { Block, blockAt, minutes, sixHours, type Tier, tenMinutes } from './blocks.ts'
import { findBlock, keepBlock } from './queries.ts'
import { type Placed, Recent } from './recent.ts'
import { type Point, SERIES } from './series.ts'

/** Every workload is stored once in such a round: a kill of the controller loses as much at most. */
export const ROUND_MS = 10 * minute
/** Workloads stored in one transaction: it keeps others waiting for some 10 ms. */
const AT_ONCE = 50
/** Workloads whose minutes are finished before others are served. */
const ADVANCED_AT_ONCE = 2000

export class Metrics {
  readonly recent: Recent
  private ids: string[] = []
  private next = 0
  private roundBegan = 0

  constructor(
    private db: Db,
    private clock: Clock,
    placedAt: (id: string) => Placed | undefined,
    changesOf?: (id: string) => number | undefined,
  ) {
    this.recent = new Recent(clock, placedAt, changesOf)
  }

  take = (nodeId: string, samples: readonly MetricsSample[]) => this.recent.take(nodeId, samples)
  takeHost = (nodeId: string, sample: HostSample) => this.recent.takeHost(nodeId, sample)

  /** Finishes the minutes that are over, of every workload. */
  async advance() {
    for (const [i, id] of this.recent.ids().entries()) {
      this.recent.advance(id)
      if (i % ADVANCED_AT_ONCE === ADVANCED_AT_ONCE - 1) await Bun.sleep(0)
    }
  }

  /** Stores the workloads whose turn in the round has come. Throws `DatabaseUnavailable`; the rest then waits. */
  async storeDue() {
    const now = this.clock()
    if (this.next >= this.ids.length && now - this.roundBegan >= ROUND_MS) this.beginRound(now)
    const share = Math.min(1, (now - this.roundBegan) / ROUND_MS)
    await this.storeUpTo(Math.ceil(this.ids.length * share))
  }

  /** Stores all that is finished, at an orderly stop. */
  async storeAll() {
    await this.advance()
    this.beginRound(this.clock())
    await this.storeUpTo(this.ids.length)
  }

  private beginRound(now: number) {
    this.ids = this.recent.ids()
    this.next = 0
    this.roundBegan = now
  }

  private async storeUpTo(end: number) {
    while (this.next < end) {
      const batch = this.ids.slice(this.next, Math.min(end, this.next + AT_ONCE))
      this.store(batch)
      this.next += batch.length
      await Bun.sleep(0)
    }
  }

  private store(ids: readonly string[]) {
    const due = ids.flatMap((id) => {
      const points = this.recent.unstored(id)
      return points.length ? [{ id, points }] : []
    })
    if (!due.length) return
    // A power cut may lose what a crash of the process does not; the next change of anything flushes it.
    writeUnflushed(this.db, (tx) => {
      for (const { id, points } of due) rollUp(tx, id, points)
    })
    for (const { id, points } of due) this.recent.noteStored(id, points.at(-1)!.at)
  }
}

/**
 * Stores minutes of a workload, and computes anew what the coarser tiers say of the time that they touch. `points` are
 * in order of time. `width`: the number of series.
 */
export function rollUp(tx: Tx, id: string, points: readonly { at: number; point: Point }[], width = SERIES) {
  const first = place(tx, id, minutes, points, width)
  const second = place(tx, id, tenMinutes, coarser(minutes, first, tenMinutes, points), width)
  place(tx, id, sixHours, coarser(tenMinutes, second, sixHours, points), width)
}

/** Puts points into their blocks; answers the blocks by their number. */
function place(
  tx: Tx,
  id: string,
  tier: Tier,
  points: readonly { at: number; point: Point }[],
  width: number,
): Map<number, Block> {
  const blocks = new Map<number, Block>()
  for (const [number, ofBlock] of Map.groupBy(points, ({ at }) => blockAt(tier, at))) {
    const block = findBlock(tx, tier, number, id, width) ?? Block.empty(tier, number, width)
    for (const { at, point } of ofBlock) block.set(at, point)
    keepBlock(tx, id, block)
    blocks.set(number, block)
  }
  return blocks
}

/** The slots of a tier that hold one of these moments, computed from the blocks of the tier below. */
function coarser(
  finer: Tier,
  blocks: ReadonlyMap<number, Block>,
  { slotMs }: Tier,
  points: readonly { at: number }[],
): { at: number; point: Point }[] {
  const slots = new Set(points.map(({ at }) => Math.floor(at / slotMs) * slotMs))
  // A slot lies in one block of the tier below: an hour has six of ten minutes, a day four of six hours.
  return [...slots].map((at) => ({ at, point: blocks.get(blockAt(finer, at))!.mean(at, at + slotMs) }))
}
