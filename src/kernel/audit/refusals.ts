// Refused attempts to authenticate in the audit log.
import { ApiError } from '../api/errors.ts'
import { type AppContext, type CallRequest, type Operation, unknownClient } from '../api/operation.ts'
import { type Db, write } from '../db/open.ts'
import { auditRefusal } from './audit.ts'
import type { Attempt } from './refused-lines.ts'

/** Records or counts a refused attempt; other refusals are left alone. */
export function noteRefusal(db: Db, app: AppContext, op: Operation, request: CallRequest, error: unknown) {
  const { refusedLines, registry } = app
  if (!op.authAttempt || !(error instanceof ApiError)) return
  const { status, audited } = registry.errors[error.code]
  if (status >= 500) return
  const { from, requestId } = request.client ?? unknownClient
  const attempt = { operation: op.id, from, requestId, error }
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
