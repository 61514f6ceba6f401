// One thread serves everybody who asks it. Work that takes longer than a moment is done in slices.

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
