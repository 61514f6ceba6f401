/** The longest run of bytes ahead of the pace, so that a timer is not needed for each piece. */
const AHEAD_MS = 20

/**
 * A limit for several streams together, in megabit per second, which may change at any time; null: none. libvirt itself
 * limits each disk for itself, and changes nothing while it migrates.
 */
export class Pace {
  #freeAt = 0
  #change = new AbortController()
  #maxMbps: number | null

  constructor(maxMbps: number | null) {
    this.#maxMbps = maxMbps
  }

  get maxMbps(): number | null {
    return this.#maxMbps
  }

  /** Bytes that wait by the old limit go at once. */
  set maxMbps(maxMbps: number | null) {
    if (maxMbps === this.#maxMbps) return
    this.#maxMbps = maxMbps
    this.#freeAt = 0
    this.#change.abort()
    this.#change = new AbortController()
  }

  /** Aborts with the next change. */
  get changed(): AbortSignal {
    return this.#change.signal
  }

  /** The milliseconds to wait after these bytes. */
  after(bytes: number, now = performance.now()): number {
    if (this.#maxMbps === null) return 0
    this.#freeAt = Math.max(now, this.#freeAt) + bytes / (this.#maxMbps * 125)
    const waitMs = this.#freeAt - now
    return waitMs < AHEAD_MS ? 0 : waitMs
  }
}
