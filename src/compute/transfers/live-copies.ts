// How far the copies at work are, as their nodes say every second. Memory only: the record gets the sum when a copy has
// ended.
import type { Copied } from '../../../agent/protocol/wire.ts'
import { type Clock, minute } from '../../kernel/db/clock.ts'

/** The rate is that of so much time. */
const RATE_OVER_MS = minute / 4
/** A copy of which nothing was heard for so long is forgotten. */
const FORGOTTEN_MS = 10 * minute

type Heard = Copied & { at: number }
export type LiveCopy = Copied & { bytesPerSecond: number | null }

declare module '../../kernel/register.ts' {
  interface Services {
    liveCopies: LiveCopies
  }
}

export class LiveCopies {
  private heard = new Map<string, Heard[]>()

  constructor(private clock: Clock) {}

  take(jobId: string, copied: Copied) {
    const at = this.clock()
    for (const [id, all] of this.heard) if (all.at(-1)!.at < at - FORGOTTEN_MS) this.heard.delete(id)
    const before = (this.heard.get(jobId) ?? []).filter((one) => one.at >= at - RATE_OVER_MS)
    this.heard.set(jobId, [...before, { ...copied, at }])
  }

  /** Undefined: its node has said nothing. */
  of(jobId: string): LiveCopy | undefined {
    const all = this.heard.get(jobId)
    const [first, last] = [all?.[0], all?.at(-1)]
    if (!first || !last) return undefined
    const { copiedBytes, totalBytes } = last
    const ms = last.at - first.at
    const bytesPerSecond = ms > 0 ? Math.max(0, Math.round(((copiedBytes - first.copiedBytes) * 1000) / ms)) : null
    return { copiedBytes, totalBytes, bytesPerSecond }
  }
}
