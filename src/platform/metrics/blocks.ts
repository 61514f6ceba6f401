// Blocks of points as rows of the database. Each tier is computed from the one below it, slot by slot: a slot that is
// computed again gets the same value, so a restart or a crash counts nothing twice.
import { day, hour, minute } from '../../kernel/db/clock.ts'
import { GAP, Mean, noPoint, type Point, packed, SERIES, unpacked } from './series.ts'

/** Points of `slotMs`, `slots` of them in a block; blocks are kept so long after their end. */
export type Tier = { tier: number; slotMs: number; slots: number; keptMs: number }
export const minutes: Tier = { tier: 0, slotMs: minute, slots: 60, keptMs: day + hour }
export const tenMinutes: Tier = { tier: 1, slotMs: 10 * minute, slots: 144, keptMs: 31 * day }
export const sixHours: Tier = { tier: 2, slotMs: 6 * hour, slots: 120, keptMs: 370 * day }
export const tiers = [minutes, tenMinutes, sixHours] as const

export const blockMs = ({ slotMs, slots }: Tier): number => slotMs * slots
/** The block that holds a moment in ms. */
export const blockAt = (tier: Tier, at: number): number => Math.floor(at / blockMs(tier))
/** Blocks before this one have expired. */
export const firstKept = (tier: Tier, now: number): number => blockAt(tier, now - tier.keptMs)

export class Block {
  /** Series after series: neighbours resemble each other, which halves the compressed size. */
  private constructor(
    readonly tier: Tier,
    readonly block: number,
    private values: Uint16Array,
    private width: number,
  ) {}

  /** `width`: the number of series. */
  static empty(tier: Tier, block: number, width = SERIES): Block {
    return new Block(tier, block, new Uint16Array(tier.slots * width).fill(GAP), width)
  }

  /** The block of a row's data. Data of another size is an empty block: there is nothing to show of it. */
  static from(tier: Tier, block: number, data: Uint8Array, width = SERIES): Block {
    const bytes = Bun.inflateSync(Uint8Array.from(data))
    if (bytes.byteLength !== tier.slots * width * 2) return Block.empty(tier, block, width)
    return new Block(tier, block, new Uint16Array(bytes.buffer, bytes.byteOffset, tier.slots * width), width)
  }

  data(): Uint8Array {
    return Bun.deflateSync(
      new Uint8Array(this.values.buffer as ArrayBuffer, this.values.byteOffset, this.values.byteLength),
    )
  }

  /** The slot of a moment in ms; it may lie outside the block. */
  private slotAt = (at: number) => Math.floor(at / this.tier.slotMs) - this.block * this.tier.slots

  set(at: number, point: Point) {
    const slot = this.slotAt(at)
    for (let i = 0; i < this.width; i++) this.values[i * this.tier.slots + slot] = point[i]!
  }

  /** The value of one series; undefined for a gap. */
  get(at: number, index: number): number | undefined {
    const slot = this.slotAt(at)
    return slot < 0 || slot >= this.tier.slots ? undefined : unpacked(this.values[index * this.tier.slots + slot]!)
  }

  /** One point of everything from `from` up to, and without, `to`. */
  mean(from: number, to: number): Point {
    const point = noPoint()
    for (let i = 0; i < this.width; i++) {
      const mean = new Mean()
      for (let at = from; at < to; at += this.tier.slotMs) mean.add(this.get(at, i))
      point[i] = packed(mean.of(i))
    }
    return point
  }
}
