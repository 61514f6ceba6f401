// The audit line, written by the gate in the transaction of the change.

import type { TSchema } from 'typebox'
import { type Actor, idOf, nameOf, visitor } from '../api/actor.ts'
import { type AppContext, type CallRequest, type CallResult, type Operation, unknownClient } from '../api/operation.ts'
import { looksLikeId, newId } from '../db/ids.ts'
import type { Db, Tx } from '../db/open.ts'
import { appendLine } from './chain.ts'
import type { Change } from './changes.ts'
import type { Attempt } from './refused-lines.ts'

export type AuditLine = {
  actor: Actor
  operation: string
  target: string | null
  from: string
  requestId: string
  result: string
  details: unknown
  changes?: Change[] | null
  jobId?: string | null
}

/** Also for events that are no operation: refused sign-ins, enrolments, scheduled work. */
export function auditLine(
  tx: Db,
  { clock }: Pick<AppContext, 'clock'>,
  { actor, operation, target, from, requestId, result, details, changes, jobId }: AuditLine,
) {
  appendLine(tx, {
    id: newId('aud'),
    at: clock(),
    actor_id: idOf(actor),
    actor_name: actor.via.type === 'support' ? nameOf(actor) : actor.name,
    via: viaOf(actor),
    operation,
    target,
    from_address: from,
    request_id: requestId,
    result,
    details: details == null ? null : JSON.stringify(details),
    changes: changes == null ? null : JSON.stringify(changes),
    job_id: jobId ?? null,
  })
}

/** Records a refused attempt to authenticate; the line stands for `more` others like it, too. */
export function auditRefusal(
  tx: Tx,
  { clock }: Pick<AppContext, 'clock'>,
  { operation, from, requestId, error: { code, about } }: Attempt,
  more: number,
) {
  const { account, why = null } = about ?? {}
  auditLine(
    tx,
    { clock },
    {
      actor: account ? { ...visitor, accountId: account.id, name: account.name } : visitor,
      operation,
      target: account?.id ?? null,
      from,
      requestId,
      result: code,
      details: more ? { more, ...(why !== null && { why }) } : why,
    },
  )
}

const viaOf = ({ via }: Actor) =>
  via.type === 'token'
    ? `token ${via.tokenId}`
    : via.type === 'support'
      ? `support session ${via.sessionId}`
      : via.type === 'system'
        ? 'system'
        : 'page'

/**
 * The id of what was changed or made: from the path, or `id` of the response, or its first other id that is no job's.
 */
const targetOf = (request: CallRequest, { body }: CallResult): string | null =>
  Object.values(request.params ?? {})[0] ?? body?.id ?? otherIdIn(body ?? {}) ?? null

const otherIdIn = (body: object): string | undefined =>
  Object.entries(body).find(
    ([name, value]) => name.endsWith('Id') && name !== 'jobId' && typeof value === 'string' && looksLikeId(value),
  )?.[1]

export function auditCall(
  tx: Tx,
  app: AppContext,
  call: {
    op: Operation
    actor: Actor
    request: CallRequest
    answer: CallResult
    result: string
    changes: Change[] | null
    beside: object
  },
) {
  const { op, actor, request, answer, result, changes, beside } = call
  const { from, requestId } = request.client ?? unknownClient
  const sent = op.auditBody
    ? op.auditBody(request.body)
    : op.body
      ? (mask(op.body, request.body) as object | undefined)
      : undefined
  auditLine(tx, app, {
    actor,
    operation: op.id,
    target: targetOf(request, answer),
    from,
    requestId,
    result,
    details: sent && { ...sent, ...beside },
    changes,
    jobId: answer.body?.jobId ?? null,
  })
}

type Shape = { writeOnly?: boolean; anyOf?: TSchema[]; properties?: Record<string, TSchema>; items?: TSchema }
const isSecret = (schema: TSchema): boolean =>
  !!(schema as Shape).writeOnly || !!(schema as Shape).anyOf?.some(isSecret)

/** The body with every secret field masked, at any depth. */
function mask(schema: TSchema, value: unknown): unknown {
  if (isSecret(schema)) return value === null ? null : '***'
  const { properties, items } = schema as Shape
  if (Array.isArray(value)) return items ? value.map((v) => mask(items, v)) : value
  if (!properties || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, v]) => [name, properties[name] ? mask(properties[name], v) : v]),
  )
}
