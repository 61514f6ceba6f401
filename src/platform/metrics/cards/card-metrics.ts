// The use of cards: a sample each ten seconds, held for an hour, and stored in the blocks that servers and nodes have.
import type { CardSample } from '../../../../agent/protocol/gpu.ts'
import { type Clock, hour, minute, second } from '../../../kernel/db/clock.ts'
import { type Db, writeUnflushed } from '../../../kernel/db/open.ts'
import type { Figure } from '../../../kernel/monitoring.ts'
import { ROUND_MS, rollUp } from '../metrics.ts'
import { GAP, Mean, noPoint, type Point, packed, type Series, unpacked } from '../series.ts'

/** The series of a card in the order in which they are stored; the second one is a peak, as that of a server is. */
export const cardSeries = [
  { name: 'busyPercent', scale: 100, words: 'How much of the time a program ran on the card, in percent.' },
  { name: 'busyPeakPercent', scale: 100, words: 'The highest of the shorter values behind one value of busyPercent.' },
  { name: 'memoryMb', scale: 1, words: 'Memory of the card in use, in MiB.' },
  { name: 'temperatureC', scale: 100, words: 'Temperature in degrees Celsius; 0 stands for frost too.' },
  { name: 'powerW', scale: 100, words: 'Power in watts.' },
] as const satisfies readonly Series[]
const WIDTH = cardSeries.length

const SLOT_MS = 10 * second
const SLOTS = hour / SLOT_MS
/** A sample stands for the slot before it too, where the one before came so little earlier. */
const JOINED_MS = 25 * second
/** Without a sample for so long, nothing is known of a card. */
const UNKNOWN_MS = minute
/** Cards whose last hour is held, at 4 kB each. */
const MOST_HELD = 10_000
/** Cards stored in one transaction. */
const AT_ONCE = 50

class HeldCard {
  private values = new Uint16Array(SLOTS * WIDTH).fill(GAP)
  private lastSlot = 0
  /** The last minute that is stored, as its beginning in ms. */
  stored: number
  last: CardSample | undefined
  seenAt = 0
  /** Since when it is measured without a gap, in ms. */
  private measuredSince: number
  /** When a program was last seen on it, in ms. */
  private busyAt: number | undefined

  constructor(now: number) {
    this.stored = Math.floor(now / minute) * minute - minute
    this.measuredSince = now
  }

  add(sample: CardSample, now: number) {
    const { usePercent, memoryUsedMb, temperatureC, powerW } = sample
    const slot = Math.floor(now / SLOT_MS)
    for (let at = Math.max(this.lastSlot + 1, slot - SLOTS + 1); at <= slot; at++) this.row(at).fill(GAP)
    const values = [usePercent, usePercent, memoryUsedMb, temperatureC, powerW]
    const point = values.map((value, i) => packed(value * cardSeries[i]!.scale))
    this.row(slot).set(point)
    if (now - this.seenAt < JOINED_MS && this.row(slot - 1)[0] === GAP) this.row(slot - 1).set(point)
    if (now - this.seenAt > UNKNOWN_MS) this.measuredSince = now
    this.lastSlot = Math.max(this.lastSlot, slot)
    this.seenAt = now
    this.last = sample
    if (usePercent > 0) this.busyAt = now
  }

  /** Since when no program has run on it, in ms; undefined: one runs, or nothing is known. */
  idleSince(now: number): number | undefined {
    if (!this.last || this.last.usePercent > 0 || now - this.seenAt > UNKNOWN_MS) return undefined
    return Math.max(this.measuredSince, this.busyAt ?? 0)
  }

  private row(slot: number): Uint16Array {
    const at = (slot % SLOTS) * WIDTH
    return this.values.subarray(at, at + WIDTH)
  }

  valueAt(at: number, index: number): number | undefined {
    const slot = Math.floor(at / SLOT_MS)
    if (slot > this.lastSlot || slot <= this.lastSlot - SLOTS) return undefined
    return unpacked(this.row(slot)[index]!)
  }

  minuteAt(at: number, index: number): number | undefined {
    const mean = new Mean()
    for (let slot = at; slot < at + minute; slot += SLOT_MS) mean.add(this.valueAt(slot, index))
    return mean.of(index)
  }

  /** The minutes that are over and not stored, without gaps. */
  unstored(now: number): { at: number; point: Point }[] {
    const end = Math.floor(now / minute) * minute
    const found = []
    for (let at = Math.max(this.stored + minute, end - hour + minute); at < end; at += minute) {
      const point = noPoint()
      for (let i = 0; i < WIDTH; i++) point[i] = packed(this.minuteAt(at, i))
      if (point[0] !== GAP) found.push({ at, point })
    }
    return found
  }
}

/** The samples of all cards, by the ids of the cards. */
export class CardMetrics {
  private held = new Map<string, HeldCard>()
  private storedAt: number

  constructor(
    private db: Db,
    private clock: Clock,
    /** The ids of a node's cards by their UUIDs. */
    private idsOn: (nodeId: string) => ReadonlyMap<string, string>,
  ) {
    this.storedAt = clock()
  }

  /** Takes in the samples of a node; those of cards that are not known there are dropped. */
  take(nodeId: string, samples: readonly CardSample[]) {
    const now = this.clock()
    const ids = this.idsOn(nodeId)
    for (const sample of samples) {
      const id = ids.get(sample.uuid)
      if (!id) continue
      let card = this.held.get(id)
      if (!card) {
        if (this.held.size >= MOST_HELD) continue
        this.held.set(id, (card = new HeldCard(now)))
      }
      card.add(sample, now)
    }
  }

  /** The last sample of a card and its time in ms; undefined: none within the hour. */
  latest(id: string): { sample: CardSample; at: number } | undefined {
    const card = this.held.get(id)
    return card?.last && { sample: card.last, at: card.seenAt }
  }
  /**
   * Since when no program has run on a card, as far as it was measured without a gap, in ms; undefined: one runs, or
   * nothing is known.
   */
  idleSince = (id: string): number | undefined => this.held.get(id)?.idleSince(this.clock())
  /** The last samples of all cards that are measured now. */
  present = (): CardSample[] =>
    [...this.held.values()].flatMap(({ last, seenAt }) => (last && this.clock() - seenAt <= UNKNOWN_MS ? last : []))

  live = (id: string, at: number, index: number): number | undefined => this.held.get(id)?.valueAt(at, index)
  minute = (id: string, at: number, index: number): number | undefined => this.held.get(id)?.minuteAt(at, index)
  cards = (): number => this.held.size

  /** Stores each card once in ten minutes: a kill of the controller loses as much at most. */
  async storeDue() {
    if (this.clock() - this.storedAt >= ROUND_MS) await this.storeAll()
  }

  /** Stores all that is finished, and forgets cards of which nothing came for an hour. */
  async storeAll() {
    const now = this.clock()
    this.storedAt = now
    const due = [...this.held].flatMap(([id, card]) => {
      const points = card.unstored(now)
      if (!points.length && now - card.seenAt > hour) this.held.delete(id)
      return points.length ? [{ id, card, points }] : []
    })
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const batch = due.slice(at, at + AT_ONCE)
      writeUnflushed(this.db, (tx) => {
        for (const { id, points } of batch) rollUp(tx, id, points, WIDTH)
      })
      for (const { card, points } of batch) card.stored = points.at(-1)!.at
      await Bun.sleep(0)
    }
  }
}

const BYTES_PER_MB = 1024 ** 2
/** The cards of the installation for a monitoring system, by their UUIDs: they are its hardware, whoever has them. */
export const cardFigures = (samples: readonly CardSample[]): Figure[] =>
  (
    [
      ['berth_card_busy_ratio', 'Share of the time in which a program ran on the card.', (s) => s.usePercent / 100],
      ['berth_card_memory_used_bytes', 'Memory of the card in use.', (s) => s.memoryUsedMb * BYTES_PER_MB],
      ['berth_card_temperature_celsius', 'Temperature of the card.', (s) => s.temperatureC],
      ['berth_card_power_watts', 'Power that the card draws.', (s) => s.powerW],
    ] as const satisfies readonly (readonly [Figure['name'], string, (sample: CardSample) => number])[]
  ).map(([name, help, value]) => ({
    name,
    help,
    type: 'gauge',
    samples: samples.map((sample) => ({ labels: { card: sample.uuid }, value: value(sample) })),
  }))
