// One thread serves everybody. Work that takes longer than a moment is done in slices, and the slices of parallel calls
// do not add up: such work waits for its turn.
import { ApiError } from './api/errors.ts'

/** A slice holds the event loop for so long; one step of the work may come on top. */
const SLICE_MS = 8

/** The slices of one piece of work: `if (slices.isOver) await slices.rest()` between its steps. */
export class Slices {
  #endsAt = performance.now() + SLICE_MS

  get isOver(): boolean {
    return performance.now() >= this.#endsAt
  }

  /** Everybody else is served before this resolves. */
  async rest(): Promise<void> {
    await Bun.sleep(0)
    this.#endsAt = performance.now() + SLICE_MS
  }
}

/** A kind of work that is done one at a time, in the order in which it was asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  readonly #ofKey = new Map<string, number>()

  /** `mostPerKey`: how many of one account may wait or be at work; each holds a body in memory. */
  constructor(private readonly mostPerKey: number) {}

  /** Throws `rate_limited` where this key has too many already. */
  async take<T>(key: string, work: (slices: Slices) => Promise<T>): Promise<T> {
    const open = this.#ofKey.get(key) ?? 0
    if (open >= this.mostPerKey)
      throw new ApiError('rate_limited', `${open} such calls of yours are not finished. Wait for their answers.`, {
        retryAfterSeconds: 5,
      })
    this.#ofKey.set(key, open + 1)
    const turn = async () => {
      const slices = new Slices()
      await slices.rest()
      return await work(slices)
    }
    const done = this.#last.then(turn, turn)
    this.#last = done
    try {
      return await done
    } finally {
      const left = this.#ofKey.get(key)! - 1
      if (left) this.#ofKey.set(key, left)
      else this.#ofKey.delete(key)
    }
  }
}
