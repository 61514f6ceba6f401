// How far the copies at work are, as their nodes say every second. Memory only: the record gets the sum when a copy has
// ended.
import type { Copied } from '../../../agent/protocol/wire.ts'
import { type Clock, minute, second } from '../../kernel/db/clock.ts'

/** The rate is that of so much time. */
const RATE_OVER_MS = minute / 4
/** So many rates of a copy are kept; a longer one has each over a longer time. */
const MOST_RATES = 120
/** A copy of which nothing was heard for so long is forgotten. */
const FORGOTTEN_MS = 10 * minute

type Heard = Copied & { at: number }
export type LiveCopy = Copied & { bytesPerSecond: number | null }
/** `at`: the end of the time over which it was measured, in ms. */
export type MeasuredRate = { at: number; bytesPerSecond: number }
/** `points`: those between which the rates are. */
type Measured = { points: Heard[]; everyMs: number }

declare module '../../kernel/register.ts' {
  interface Services {
    liveCopies: LiveCopies
  }
}

export class LiveCopies {
  private heard = new Map<string, Heard[]>()
  private measured = new Map<string, Measured>()

  constructor(private clock: Clock) {}

  take(jobId: string, copied: Copied) {
    const at = this.clock()
    for (const [id, all] of this.heard)
      if (all.at(-1)!.at < at - FORGOTTEN_MS) {
        this.heard.delete(id)
        this.measured.delete(id)
      }
    const before = (this.heard.get(jobId) ?? []).filter((one) => one.at >= at - RATE_OVER_MS)
    this.heard.set(jobId, [...before, { ...copied, at }])
    this.measure(jobId, { ...copied, at })
  }

  private measure(jobId: string, heard: Heard) {
    const measured = this.measured.get(jobId) ?? { points: [], everyMs: second }
    const last = measured.points.at(-1)
    if (last && heard.at - last.at < measured.everyMs) return
    measured.points.push(heard)
    if (measured.points.length > MOST_RATES) {
      measured.points = measured.points.filter((_, i) => i % 2 === 0)
      measured.everyMs *= 2
    }
    this.measured.set(jobId, measured)
  }

  /** From the beginning of the copy on, the oldest first. A copy after a mirror counts anew: no rate is below 0. */
  ratesOf(jobId: string): MeasuredRate[] {
    const points = this.measured.get(jobId)?.points ?? []
    return points.slice(1).map(({ at, copiedBytes }, i) => {
      const before = points[i]!
      const bytes = Math.max(0, copiedBytes - before.copiedBytes)
      return { at, bytesPerSecond: Math.round((bytes * 1000) / (at - before.at)) }
    })
  }

  /** Undefined: its node has said nothing. `mostBytes`: of its disks; a node that tells more is not believed. */
  of(jobId: string, mostBytes: number): LiveCopy | undefined {
    const all = this.heard.get(jobId)
    const [first, last] = [all?.[0], all?.at(-1)]
    if (!first || !last) return undefined
    const totalBytes = Math.min(last.totalBytes, mostBytes)
    const copiedBytes = Math.min(last.copiedBytes, totalBytes)
    const ms = last.at - first.at
    const sentBytes = copiedBytes - Math.min(first.copiedBytes, copiedBytes)
    const bytesPerSecond = ms > 0 ? Math.round((sentBytes * 1000) / ms) : null
    return { copiedBytes, totalBytes, bytesPerSecond }
  }
}
