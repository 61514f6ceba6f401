// Attempts of one kind that follow each other within a minute are counted, so that a flood neither fills the audit log
// nor is left out of it.
import type { ApiError } from '../api/errors.ts'
import { addressKey } from '../api/limits.ts'
import { type Clock, minute } from '../db/clock.ts'

/** `from`: the address of its sender, `''` where there is none. */
export type Attempt = { operation: string; from: string; requestId: string; error: ApiError }
type Counted = Attempt & { at: number; waiting: number }

/** Counts attempts in memory until a line can stand for them. At most `most` kinds are remembered. */
export class RefusedLines {
  #counted = new Map<string, Counted>()
  constructor(
    readonly clock: Clock,
    readonly most = 10_000,
  ) {}

  /** Counts the attempt and answers undefined; or answers of how many earlier ones it is the line, too. */
  count(attempt: Attempt): number | undefined {
    const now = this.clock()
    const key = keyOf(attempt)
    const known = this.#counted.get(key)
    if (known && now - known.at < minute) {
      Object.assign(known, attempt, { waiting: known.waiting + 1 })
      return undefined
    }
    this.#counted.set(key, { ...attempt, at: now, waiting: 0 })
    return known?.waiting ?? 0
  }

  isFull = () => this.#counted.size >= this.most

  /** Hands each kind with attempts that have no line yet to `record`, then forgets it. */
  settle(record: (attempt: Attempt, more: number) => void) {
    const now = this.clock()
    for (const [key, { at, waiting, ...attempt }] of this.#counted) {
      if (waiting > 0) {
        record(attempt, waiting - 1)
        this.#counted.set(key, { ...attempt, at: now, waiting: 0 })
      } else if (now - at >= minute || this.isFull()) this.#counted.delete(key)
    }
  }
}

const keyOf = ({ operation, from, error: { code, about } }: Attempt) =>
  [operation, code, addressKey(from), about?.account?.id ?? ''].join(' ')
