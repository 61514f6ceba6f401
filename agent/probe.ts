// Probes of what may hang: libvirt, the container engine, storage. A program that waits for a dead disk cannot be
// ended, so the next question waits until it is gone.
import { Failure, wordsOf } from './failure.ts'

/** Nothing answers since then, in ms since 1970; `why` in words. */
export type Silence = { since: number; why: string }

type Open = { ended: Promise<unknown>; askedAt: number; overdueAt: number }

/** The questions to one thing. One is open at a time. */
export class Probe {
  private open: Open | undefined
  private found: Silence | undefined
  private answeredAt = Number.NEGATIVE_INFINITY

  constructor(private limitMs: number) {}

  /** Undefined while the last question was answered. */
  get silence(): Silence | undefined {
    return this.found
  }

  /** A question is open for longer than its limit: whatever else is asked would hang as well. */
  get isHanging(): boolean {
    return this.open !== undefined && performance.now() >= this.open.overdueAt
  }

  hasAnsweredWithin = (ms: number) => this.found === undefined && performance.now() - this.answeredAt <= ms

  /**
   * Answers the question when it is its turn. Throws `silent` after the limit, and at once while an earlier question is
   * beyond its own; `busy` when an earlier one took all the time and may still be answered; what the question throws.
   */
  async ask<T>(question: () => Promise<T>, limitMs = this.limitMs): Promise<T> {
    const until = performance.now() + limitMs
    while (this.open) await this.endOf(this.open, until)
    const answer = question()
    const open: Open = {
      askedAt: Date.now(),
      overdueAt: performance.now() + limitMs,
      ended: answer.then(
        () => this.close(open),
        () => this.close(open),
      ),
    }
    this.open = open
    try {
      await inTime(open.ended, open.overdueAt)
      const answered = await answer
      this.found = undefined
      this.answeredAt = performance.now()
      return answered
    } catch (error) {
      this.found = { since: this.found?.since ?? open.askedAt, why: wordsOf(error) }
      throw error
    }
  }

  private close(open: Open) {
    if (this.open === open) this.open = undefined
  }

  private async endOf(open: Open, until: number) {
    try {
      await inTime(open.ended, Math.min(open.overdueAt, until))
    } catch (error) {
      if (performance.now() < open.overdueAt) throw new Failure('busy', 'another question is not answered yet')
      throw error
    }
  }
}

/**
 * Throws `silent` when the moment has passed; both are of `performance.now()`. A timer may end a fraction of a
 * millisecond early, and whoever looked at the clock then would take the question for one that may still be answered.
 */
async function inTime(ended: Promise<unknown>, until: number) {
  const { promise, reject } = Promise.withResolvers<never>()
  const wait = () => setTimeout(late, Math.max(0, Math.ceil(until - performance.now())))
  const late = () => {
    if (performance.now() < until) timer = wait()
    else reject(new Failure('silent', 'there was no answer in time'))
  }
  let timer = wait()
  try {
    await Promise.race([ended, promise])
  } finally {
    clearTimeout(timer)
  }
}
