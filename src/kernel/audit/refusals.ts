// Refused attempts to authenticate in the audit log. Attempts of one kind that follow each other within a minute are
// counted, so a flood neither fills the log nor is left out of it.
import { ApiError } from '../api/errors.ts'
import { addressKey } from '../api/limits.ts'
import type { AppContext, CallRequest, Operation } from '../api/operation.ts'
import { type Clock, minute } from '../db/clock.ts'
import { type Db, write } from '../db/open.ts'
import { auditRefusal } from './audit.ts'

type Attempt = { operation: string; request: CallRequest; error: ApiError }
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

const keyOf = ({ operation, request: { from = '' }, error: { code, about } }: Attempt) =>
  [operation, code, addressKey(from), about?.account?.id ?? ''].join(' ')

/** Records or counts a refused attempt; other refusals are left alone. */
export function noteRefusal(db: Db, app: AppContext, op: Operation, request: CallRequest, error: unknown) {
  const { refusedLines, registry } = app
  if (!op.authAttempt || !(error instanceof ApiError)) return
  const { status, audited } = registry.errors[error.code]
  if (status >= 500) return
  const attempt = { operation: op.id, request, error }
  const isLimited = error.code === 'rate_limited'
  const isGuess = !isLimited && (audited === true || error.about !== undefined)
  if (isGuess) return write(db, (tx) => auditRefusal(tx, app, attempt, 0))
  // Signed in already, or what the attempt would change is in conflict: nobody was refused to sign in.
  if (!isLimited && (op.access !== 'anyone' || status === 409)) return
  if (refusedLines.isFull()) settleRefusals(db, app)
  const more = refusedLines.count(attempt)
  if (more !== undefined) write(db, (tx) => auditRefusal(tx, app, attempt, more))
}

/** Writes a line for the attempts that were counted. */
export function settleRefusals(db: Db, app: AppContext) {
  const found: { attempt: Attempt; more: number }[] = []
  app.refusedLines.settle((attempt, more) => found.push({ attempt, more }))
  if (!found.length) return
  write(db, (tx) => {
    for (const { attempt, more } of found) auditRefusal(tx, app, attempt, more)
  })
}
