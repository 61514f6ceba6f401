// The reports of nodes of the last hour, in memory. A sample covers a span of time; its increments are shared among the
// minutes that it overlaps, so that no minute is empty because a sample came a second late.
import type { HostSample, MetricsSample } from '../../../agent/protocol/wire.ts'
import { hour, minute, second } from '../../kernel/db/clock.ts'
import { GAP, noPoint, type Point, packed, SERIES, unpacked } from './series.ts'

/** Finished minutes that are held per workload until they are stored; without a database the oldest are dropped. */
const HELD_MINUTES = 20
const LIVE_SLOT_MS = 10 * second
const LIVE_SLOTS = hour / LIVE_SLOT_MS
/** The series of which the last hour is held in steps of 10 s; the others are measured each minute. */
const live = [0, 7, 8] as const
/** Workloads whose last hour is held in steps of 10 s, at 2.2 kB each. */
const MOST_LIVE = 20_000
/** A workload without a sample for so long is forgotten. */
const FORGOTTEN_MS = hour
/** A minute of which less was measured is a gap. */
const LEAST_MEASURED_MS = 5 * second

/** Sums of an open minute. */
type Sums = {
  ms: number
  cpuMs: number
  peak: number
  traffic: [number, number, number, number]
  diskMs: number
  disk: [number, number, number, number]
  memoryMs: number
  memory: number
}
const noSums = (): Sums => ({
  ms: 0,
  cpuMs: 0,
  peak: 0,
  traffic: [0, 0, 0, 0],
  diskMs: 0,
  disk: [0, 0, 0, 0],
  memoryMs: 0,
  memory: 0,
})

/**
 * The facts about a workload without which no sample of it counts: the nodes where it stays, of which it runs on one at
 * a time. A node is placed on itself. `changes`: another number says that it stays elsewhere now.
 */
export type Placed = { nodeIds: readonly string[]; vcpus: number; memoryMb: number; changes?: number }

class Held {
  /** The last finished minute, in minutes since 1970, and the last one that is stored. */
  finished: number
  stored: number
  /** The two minutes that are open: behind `finished`. */
  private open: [Sums, Sums] = [noSums(), noSums()]
  /** Finished minutes by their number modulo `HELD_MINUTES`. */
  private points = new Uint16Array(HELD_MINUTES * SERIES).fill(GAP)
  private live: Uint16Array | undefined
  private liveSlot = 0
  seenAt: number

  constructor(
    public placed: Placed,
    now: number,
    isLive: boolean,
  ) {
    this.seenAt = now
    this.finished = Math.floor(now / minute) - 2
    this.stored = this.finished
    if (isLive) this.live = new Uint16Array(LIVE_SLOTS * live.length).fill(GAP)
  }

  /** Finishes the minutes before the one of `now` and the one before it. */
  advance(now: number) {
    const due = Math.floor(now / minute) - 2
    if (due - this.finished > HELD_MINUTES) this.finished = due - HELD_MINUTES
    while (this.finished < due) {
      this.finished++
      const [first, second] = this.open
      this.points.set(this.pointOf(first), (this.finished % HELD_MINUTES) * SERIES)
      this.open = [second, noSums()]
    }
  }

  private pointOf(sums: Sums): Point {
    const point = noPoint()
    const [rx, tx, rxPackets, txPackets] = sums.traffic
    const [read, written, reads, writes] = sums.disk
    const [perSecond, diskPerSecond] = [1000 / sums.ms, 1000 / sums.diskMs]
    if (sums.ms >= LEAST_MEASURED_MS) {
      point[0] = packed(this.cpuOf(sums.cpuMs, sums.ms))
      point[1] = packed(sums.peak)
      point[7] = packed(rx * perSecond)
      point[8] = packed(tx * perSecond)
      point[9] = packed(rxPackets * perSecond * 100)
      point[10] = packed(txPackets * perSecond * 100)
    }
    if (sums.memoryMs >= LEAST_MEASURED_MS) point[2] = packed(sums.memory / sums.memoryMs)
    if (sums.diskMs >= LEAST_MEASURED_MS) {
      point[3] = packed(read * diskPerSecond)
      point[4] = packed(written * diskPerSecond)
      point[5] = packed(reads * diskPerSecond * 100)
      point[6] = packed(writes * diskPerSecond * 100)
    }
    return point
  }

  /** Hundredths of a percent of all vCPUs. QEMU's own work can exceed them. */
  private cpuOf = (cpuMs: number, ms: number) => Math.min(10_000, (cpuMs / (ms * this.placed.vcpus)) * 10_000)

  add({ ms, fast, disk, memory }: HostSample, now: number) {
    this.advance(now)
    this.seenAt = now
    const [cpuMs = 0, ...traffic] = fast
    const cpu = this.cpuOf(cpuMs, ms)
    this.share(ms, now, (sums, share) => {
      sums.ms += ms * share
      sums.cpuMs += cpuMs * share
      sums.peak = Math.max(sums.peak, cpu)
      for (const i of [0, 1, 2, 3] as const) sums.traffic[i] += (traffic[i] ?? 0) * share
    })
    if (disk)
      this.share(disk.ms, now, (sums, share) => {
        sums.diskMs += disk.ms * share
        for (const i of [0, 1, 2, 3] as const) sums.disk[i] += (disk.sums[i] ?? 0) * share
      })
    if (memory)
      this.share(memory.ms, now, (sums, share) => {
        sums.memoryMs += memory.ms * share
        sums.memory += Math.min(memory.usedMb, this.placed.memoryMb) * memory.ms * share
      })
    this.addLive(ms, now, [cpu, ((traffic[0] ?? 0) / ms) * 1000, ((traffic[1] ?? 0) / ms) * 1000])
  }

  /** The part of a span that ends now in each of the open minutes; what is older is lost. */
  private share(ms: number, now: number, add: (sums: Sums, share: number) => void) {
    for (const i of [0, 1] as const) {
      const from = (this.finished + 1 + i) * minute
      const overlap = Math.min(now, from + minute) - Math.max(now - ms, from)
      if (overlap > 0) add(this.open[i], overlap / ms)
    }
  }

  private addLive(ms: number, now: number, values: readonly number[]) {
    if (!this.live) return
    const last = Math.floor((now - 1) / LIVE_SLOT_MS)
    this.clearLive(last)
    const first = Math.max(Math.floor((now - ms) / LIVE_SLOT_MS), last - LIVE_SLOTS + 1)
    for (let slot = first; slot <= last; slot++)
      for (const [i, value] of values.entries()) {
        const place = (slot % LIVE_SLOTS) * live.length + i
        if (slot === last || this.live[place] === GAP) this.live[place] = packed(value)
      }
  }

  /** The slots that the clock has passed since the last sample are gaps. */
  private clearLive(last: number) {
    if (!this.live) return
    for (let slot = Math.max(this.liveSlot + 1, last - LIVE_SLOTS + 1); slot <= last; slot++)
      this.live.fill(GAP, (slot % LIVE_SLOTS) * live.length, ((slot % LIVE_SLOTS) + 1) * live.length)
    this.liveSlot = Math.max(this.liveSlot, last)
  }

  liveAt(at: number, index: number): number | undefined {
    const place = live.indexOf(index as 0)
    const slot = Math.floor(at / LIVE_SLOT_MS)
    if (!this.live || place < 0 || slot > this.liveSlot || slot <= this.liveSlot - LIVE_SLOTS) return undefined
    return unpacked(this.live[(slot % LIVE_SLOTS) * live.length + place]!)
  }

  /** A finished minute that is still held. */
  point(minuteNumber: number): Point | undefined {
    if (minuteNumber > this.finished || minuteNumber <= this.finished - HELD_MINUTES) return undefined
    const start = (minuteNumber % HELD_MINUTES) * SERIES
    return this.points.subarray(start, start + SERIES)
  }

  /** The finished minutes that are not stored, without gaps. */
  unstored(): { at: number; point: Point }[] {
    const found = []
    for (let n = Math.max(this.stored, this.finished - HELD_MINUTES) + 1; n <= this.finished; n++) {
      const point = this.point(n)!
      if (point.some((value) => value !== GAP)) found.push({ at: n * minute, point })
    }
    return found
  }
}

export class Recent {
  private held = new Map<string, Held>()
  /** Samples taken in since the start. */
  taken = 0

  constructor(
    private clock: () => number,
    /** Undefined: there is no such workload or node, or it is terminated or removed. */
    private placedAt: (id: string) => Placed | undefined,
    private changesOf: (id: string) => number | undefined = () => undefined,
  ) {}

  /** Takes in the samples of a node; those of workloads that are not on it are dropped. */
  take(nodeId: string, samples: readonly MetricsSample[]) {
    const now = this.clock()
    for (const sample of samples) this.takeOf(nodeId, sample.id, sample, now)
  }

  /** Takes in the sample of a node itself. */
  takeHost = (nodeId: string, sample: HostSample) => this.takeOf(nodeId, nodeId, sample, this.clock())

  private takeOf(nodeId: string, id: string, sample: HostSample, now: number) {
    const held = this.heldOn(nodeId, id, now)
    if (!held) return
    held.add(sample, now)
    this.taken++
  }

  private heldOn(nodeId: string, id: string, now: number): Held | undefined {
    const held = this.held.get(id)
    if (held?.placed.nodeIds.includes(nodeId) && held.placed.changes === this.changesOf(id)) return held
    const placed = this.placedAt(id)
    if (placed && held) held.placed = placed
    if (!placed?.nodeIds.includes(nodeId)) return undefined
    if (held) return held
    const made = new Held(placed, now, this.held.size < MOST_LIVE)
    this.held.set(id, made)
    return made
  }

  /** How many workloads are held; a node is placed on itself. */
  workloads = (): number => [...this.held].filter(([id, { placed }]) => !placed.nodeIds.includes(id)).length

  /** The ids of all that is held, in their order. */
  ids = (): string[] => [...this.held.keys()].sort()

  /** Finishes minutes of this workload, reads its size anew, and forgets it when nothing came for an hour. */
  advance(id: string) {
    const held = this.held.get(id)
    if (!held) return
    const now = this.clock()
    held.advance(now)
    if (now - held.seenAt > FORGOTTEN_MS && !held.unstored().length) this.held.delete(id)
  }

  unstored = (id: string): { at: number; point: Point }[] => this.held.get(id)?.unstored() ?? []
  /** Everything up to this moment is stored. The size of the workload is read again: its package may have changed. */
  noteStored(id: string, at: number) {
    const held = this.held.get(id)
    if (!held) return
    held.stored = Math.max(held.stored, Math.floor(at / minute))
    const placed = this.placedAt(id)
    if (placed) held.placed = placed
  }

  /** The memory of the workload in MiB, as it was when it was stored last. */
  memoryMb = (id: string): number | undefined => this.held.get(id)?.placed.memoryMb

  /** The value of a series in a step of 10 s of the last hour. */
  live = (id: string, at: number, index: number): number | undefined => this.held.get(id)?.liveAt(at, index)
  /** The value of a series in a finished minute that is still held. */
  minute(id: string, at: number, index: number): number | undefined {
    const point = this.held.get(id)?.point(Math.floor(at / minute))
    return point && unpacked(point[index]!)
  }
}
