// The gate. API calls, pages, tests and the command line come through here; nothing else calls `run`.

import { auditCall } from '../audit/audit.ts'
import { changesOf } from '../audit/changes.ts'
import { noteRefusal } from '../audit/refusals.ts'
import { minute } from '../db/clock.ts'
import { writeTogether } from '../db/group-commit.ts'
import { looksLikeId } from '../db/ids.ts'
import { bytesOf, changeMade, type Db, read, rehearse, type Tx } from '../db/open.ts'
import { JsonRow } from '../db/rendered.ts'
import { mailServer } from '../mail/mail-server.ts'
import { tellOwners } from '../mail/owner-notice.ts'
import { isScope, type Right, type Rights, type Scope } from './access.ts'
import { type Actor, idOf, sessionOf, visitor } from './actor.ts'
import { ApiError, unknownPath } from './errors.ts'
import { memoryOf } from './idempotency.ts'
import { addressKey } from './limits.ts'
import {
  type AppContext,
  type Call,
  type CallRequest,
  type CallResult,
  fields,
  type Gate,
  isBarredFromSupportSession,
  isDryRun,
  lacksOwnership,
  lacksSecondFactor,
  mayCall,
  mayCallOn,
  mustHave,
  needsPerson,
  type Operation,
  type Query,
  queryOf,
  RenderedResult,
  statusOf,
  unknownClient,
} from './operation.ts'
import { wrongValue } from './query.ts'
import { check, composed } from './validate.ts'

/** All checks of a call whose sender and body are known, in their promised order. Throws ApiError. */
const passing =
  (db: Db, app: AppContext): Gate =>
  (op, actor, sent = {}) => {
    const request = sent.body === undefined ? sent : { ...sent, body: composed(op.body, sent.body) }
    mustKnow(app, op, request.query ?? {})
    const who = permit(app, op, actor, request.body)
    const { params = {}, query = {}, body, idempotencyKey, client = unknownClient } = request
    const given: string[] = []
    let actsAs = who
    let result = 'done'
    let beside: object = {}
    const setCookie: Call['setCookie'] = (text, became, instead) => {
      given.push(text)
      if (became) actsAs = { ...who, accountId: became.id, name: became.name }
      if (became?.linkOf) beside = { linkOf: became.linkOf }
      if (instead) result = instead
    }
    // All names at once: to add the last three by `Object.assign` takes as long as looking up a small row.
    const asked = {
      ...app,
      actor: who,
      params,
      query,
      pages: op.pages,
      body,
      client,
      setCookie,
      tx: undefined as unknown as Tx,
      target: undefined as unknown,
      prepared: undefined as unknown,
    }
    const targetIn = (tx: Db) => {
      const target = lookUp(op, tx, who, params)
      checkBody(app, op, body)
      return target
    }
    const rehearsed = isDryRun(op, query)
    const memory =
      op.idempotent && idempotencyKey && !rehearsed
        ? memoryOf(app, who, endpointOf(op, params), idempotencyKey)
        : undefined

    const answer = (tx: Db, prepared: unknown): CallResult => {
      asked.target = targetIn(tx)
      // The type of `run` promises a Tx to changes only; a read gets the same object without write access in its type.
      asked.tx = tx as Tx
      asked.prepared = prepared
      const made = op.run(asked)
      if (made instanceof JsonRow) return new RenderedResult(op.status ?? 200, made)
      return { status: statusOf(op, made), body: made, ...(given.length ? { cookies: given } : {}) }
    }
    const look = (prepared: unknown) => read(db, (tx) => answer(tx, prepared))
    const change = (prepared: unknown) =>
      writeTogether(db, (tx): CallResult => {
        const stored = memory?.recall(tx)
        if (stored) return stored
        const before = watched(op, tx, app, who, params)
        const over = op.tellsOwners ? mailServer(tx, app.secrets) : undefined
        const made = answer(tx, prepared)
        const changes = changesOf(before, watched(op, tx, app, who, params))
        changeMade(tx, { action: op.id, by: actsAs.name, jobId: made.body?.jobId ?? null })
        auditCall(tx, app, { op, actor: actsAs, request, answer: made, result, changes, beside })
        if (op.tellsOwners) {
          const what = typeof op.tellsOwners === 'string' ? op.tellsOwners : op.tellsOwners(asked.target)
          const redirected = op.ownerOnly ? ({ changes, isRedirect: true } as const) : {}
          tellOwners(tx, app, over, { actor: actsAs, what, from: client.from, ...redirected })
        }
        memory?.keep(tx, made)
        return made
      })
    const rehearsal = (prepared: unknown) =>
      rehearse(db, (tx): CallResult => ({ ...answer(tx, prepared), status: 200 }))
    const finish = op.method === 'GET' ? look : rehearsed ? rehearsal : change
    const { prepare } = op
    const atReader = op.atReader && app.reader.isFor(bytesOf(db))
    if (!prepare && !atReader) return finish(undefined)

    const early = read(db, (tx) => memory?.recall(tx) ?? { ...asked, db, target: targetIn(tx) })
    if ('status' in early) return early
    const ask = () => ({
      operation: op.id,
      actor: who.via.type === 'system' ? undefined : who,
      ...{ params, query, body, now: app.clock(), contact: app.contactWithAll(db) },
      cursorKeys: app.secrets.macKeys('cursor'),
    })
    // A read of a token comes here inside of a transaction, which ends before the next turn.
    const waited = Promise.resolve()
    if (!atReader) return waited.then(() => prepare!(early)).then(finish)
    if (prepare) return waited.then(() => app.reader.value(idOf(who), ask())).then(finish)
    if (!op.produces)
      return waited.then(async () => {
        const { json, place } = await app.reader.value(idOf(who), ask())
        return new RenderedResult(op.status ?? 200, new JsonRow(json), place)
      })
    return waited.then(async () => ({ status: statusOf(op, undefined), body: await app.reader.file(idOf(who), ask()) }))
  }

/** The gate of a controller. Every refused attempt to authenticate is in the audit log, wherever it was refused. */
export function gate(db: Db, app: AppContext): Gate {
  const through = passing(db, app)
  return (op, actor, request = {}) => {
    if (!op.authAttempt) return through(op, actor, request)
    // Before all checks: a malformed attempt counts like any other.
    const attempt = async () => {
      app.signIns.take(addressKey(request.client?.from ?? ''))
      return through(op, actor, request)
    }
    return attempt().catch((error) => {
      noteRefusal(db, app, op, request, error)
      throw error
    })
  }
}

/**
 * Counts and records an attempt to authenticate that was refused before the gate, and answers the error to throw:
 * `rate_limited` where too many came. A call from another site counts for no limit, because its pages would use up that
 * of the visitor.
 */
export function refusedEarly(db: Db, app: AppContext, op: Operation, request: CallRequest, error: unknown): unknown {
  if (!op.authAttempt || !(error instanceof ApiError)) return error
  let refusal = error
  try {
    if (error.code !== 'bad_origin' && error.code !== 'csrf_failed')
      app.signIns.take(addressKey(request.client?.from ?? ''))
  } catch (limited) {
    if (!(limited instanceof ApiError)) throw limited
    refusal = limited
  }
  noteRefusal(db, app, op, request, refusal)
  return refusal
}

function mustKnow({ registry }: AppContext, op: Operation, query: Query) {
  const known = queryOf(op)
  for (const name in query) {
    if (!Object.hasOwn(known, name))
      throw new ApiError('invalid_request', `There is no query parameter "${name.slice(0, 40)}" here.`)
    const wrong = wrongValue(registry.complete(known[name]!), query[name]!)
    if (wrong) throw new ApiError('invalid_request', `The query parameter ${name} ${wrong}`)
  }
}

/** The scope of an idempotency key: the operation and its target. One key for two targets is two calls. */
const endpointOf = (op: Operation, params: Readonly<Record<string, string>>) =>
  [op.id, ...Object.values(params)].join(' ')

const noBody = fields({})
function checkBody({ registry }: AppContext, op: Operation, body: unknown) {
  if (op.method !== 'GET') check(registry.complete(op.body ?? noBody), body)
}

/** A sign-in counts as recent for this long. */
export const CONFIRMED_MS = 10 * minute

/** `“Create servers” or “Order servers”` */
const inWords = ({ scopes, permissions }: Rights, rights: readonly Right[]) =>
  [...new Set(rights.map((right) => (isScope(right) ? scopes[right] : permissions[right]).words))]
    .map((words) => `“${words}”`)
    .join(' or ')

function permit({ clock, registry }: AppContext, op: Operation, actor: Actor | undefined, body: unknown): Actor {
  if (op.localOnly) {
    if (actor && mayCall(op, actor)) return actor
    throw unknownPath()
  }
  if (op.access === 'anyone') return actor ?? visitor
  if (!actor) throw new ApiError('not_authenticated', 'Sign in, or send a token in the Authorization header.')
  if (lacksSecondFactor(op, actor))
    throw new ApiError(
      'second_factor_required',
      'Your role requires a second factor. Set one up on the page Security; until then nothing else is open.',
    )
  const accepted = op.access[actor.kind]
  if (actor.via.type === 'token' && needsPerson(op, actor.kind))
    throw new ApiError(
      'token_not_allowed',
      'This needs a person who is signed in; no token may do it. Do it in the panel.',
    )
  if (isBarredFromSupportSession(op, actor))
    throw new ApiError(
      'support_session',
      `A support session may not do this. Ask ${actor.name} to do it, or end the session and do it as yourself.`,
    )
  if (!accepted)
    throw new ApiError(
      'forbidden',
      `This call is not for ${actor.kind} accounts. The API reference lists the calls that yours may use.`,
    )
  if (!mayCall(op, actor)) {
    if (lacksOwnership(op, actor))
      throw new ApiError('forbidden', 'Only an owner may do this: it decides where passwords and links go. Ask one.')
    if (actor.via.type === 'token') {
      const scopes = accepted.filter(isScope)
      throw new ApiError(
        'missing_scope',
        `This token needs the scope ${scopes.join(' or ')}: ${inWords(registry, scopes)}.`,
        { scopes },
      )
    }
    throw new ApiError(
      'forbidden',
      `Your role does not include ${inWords(registry, accepted)}. Ask an administrator of your team for it.`,
    )
  }
  if (op.grants)
    mustHave(
      { actor, registry },
      grantedBy(op, body).filter((name): name is Scope => Object.hasOwn(registry.scopes, name)),
    )
  const session = sessionOf(actor)
  if (asksToConfirm(op, body) && session && clock() - session.confirmedAt > CONFIRMED_MS)
    throw new ApiError(
      'confirmation_required',
      'Confirm that it is you: this needs a sign-in from the last 10 minutes.',
    )
  return actor
}

/** Names that are no scopes are left to the check of the body. */
const grantedBy = (op: Operation, body: unknown): string[] =>
  op.grants && typeof body === 'object' && body !== null ? [...op.grants(body)] : []

const asksToConfirm = ({ requiresRecentAuth }: Operation, body: unknown): boolean =>
  Array.isArray(requiresRecentAuth)
    ? typeof body === 'object' && body !== null && requiresRecentAuth.some((name) => Object.hasOwn(body, name))
    : requiresRecentAuth === true

/** The state that the audit log compares. Undefined where the actor sees no target. */
function watched(op: Operation, tx: Db, app: AppContext, actor: Actor, params: Readonly<Record<string, string>>) {
  const id = idIn(op, params)
  const target = op.on && looksLikeId(id) ? op.on.find(tx, actor, id) : undefined
  if (op.on && !target) return undefined
  return op.auditSnapshot ? op.auditSnapshot({ ...app, tx, actor, target }) : target
}

const idIn = (op: Operation, params: Readonly<Record<string, string>>) =>
  params[/\{(\w+)\}/.exec(op.path)?.[1] ?? ''] ?? ''

/** Runs before validation, so that nothing can be probed: a hidden id and an unknown one get the same bytes. */
export function lookUp(op: Operation, tx: Db, actor: Actor, params: Readonly<Record<string, string>>): unknown {
  if (!op.on) return undefined
  const id = idIn(op, params)
  const target = looksLikeId(id) ? op.on.find(tx, actor, id) : undefined
  if (target === undefined)
    throw new ApiError(op.on.notFound, `There is no such ${op.on.name}, or it is not yours. Check the id.`)
  const rights = op.on.rights?.(tx, actor, target)
  if (rights && !mayCallOn(op, actor, rights))
    throw new ApiError(
      'forbidden',
      `You can see this ${op.on.name} but may not do this with it. Ask its owner for access.`,
    )
  return target
}
