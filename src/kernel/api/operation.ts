// What a declaration of an operation holds. The route, 405, validation, permission, idempotency, audit line, OpenAPI entry,
// button, `berth admin` and the general tests all come from here.
import { type Static, type TSchema, Type as t } from 'typebox'
import type { Heartbeat } from '../../../agent/protocol/wire.ts'
import type { Secrets } from '../crypto/secrets.ts'
import type { Clock } from '../db/clock.ts'
import type { Db, Tx } from '../db/open.ts'
import type { Registry } from '../feature.ts'
import type { AppConfig, Services } from '../register.ts'
import type { Brand } from '../web/brand.ts'
import { type AccountKind, isScope, type Right, type Scope } from './access.ts'
import type { Actor } from './actor.ts'
import { ApiError, type Code, invalid } from './errors.ts'
import type { Limit } from './limits.ts'
import { wholeNumber } from './query.ts'
import { LINE } from './validate.ts'

/** What runs beside the database and an operation may ask: nothing here changes anything. */
export type AppContext = Services & {
  /** All that the features of this controller declare. */
  registry: Registry
  config: AppConfig
  clock: Clock
  secrets: Secrets
  nodes: {
    connected(nodeId: string): boolean
    /** Counts every time that a node came or went since this controller started. */
    changes(): number
    /** The last one since this controller started. */
    heartbeat(nodeId: string): Heartbeat | undefined
    /** Closes its socket once the transaction at hand is through. */
    disconnect(nodeId: string): void
  }
  /** Refuses the 21st sign-in of a minute from one address. */
  signIns: Limit
  /** Lets one line a minute into the audit log of those that are refused because they have to wait. */
  refusedLines: Limit
  /** How Berth shows itself to this account and from whom its mails come; `''` is a visitor. */
  brandFor(tx: Db, accountId: string): Brand
  startedAt: number
  /** The pages that this actor's navigation leads to, and where it is done what can be done. */
  navItems(actor: Actor): { type: 'page' | 'action'; title: string; href: string }[]
}

/** A thing with an identifier. `find` is the only way from an id to a row, and it sees only what the actor may. */
export type Resource<Row> = {
  name: string
  notFound: Code
  find(tx: Db, actor: Actor, id: string): Row | undefined
  /** Where not everybody who sees a row may do everything with it: what this actor has on it. Undefined: all of his. */
  rights?(tx: Db, actor: Actor, row: Row): ReadonlySet<Right> | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Query = Readonly<Record<string, string>>
/** How many rows a page of a list has when nothing is said, and at most. */
export type Pages = { usual: number; most: number }

export type Became = { id: string; name: string; linkOf?: { kind: AccountKind; name: string } | null }

/** What is known of a call before it is carried out. */
export type RequestContext<Row = unknown, Body = unknown> = AppContext & {
  actor: Actor
  params: Readonly<Record<string, string>>
  query: Query
  pages: Pages | undefined
  target: Row
  body: Body
  /** The caller's address, after trusted proxies. */
  from: string
  userAgent: string
  /** The Cookie header: for what a browser holds before it has a session. */
  cookies: string
  requestId: string
  /**
   * Only signing in and out have a reason to. `became` is who the visitor is from now on: the audit line is theirs, and says through
   * whose link they came. `result` is what the line says instead of `done`.
   */
  setCookie(cookie: string, became?: Became, result?: Code): void
}

/** Carrying it out, in one transaction. A read has no Tx, so it changes nothing. */
export type Call<Row = unknown, Body = unknown, Prepared = unknown, M extends Method = 'POST'> = RequestContext<
  Row,
  Body
> & {
  tx: M extends 'GET' ? Db : Tx
  prepared: Prepared
}
/** What reads needs no more than this; a change can be looked through in the same way. */
export type ReadContext<Row = unknown, Body = unknown> = RequestContext<Row, Body> & { tx: Db }
/** Before the transaction, and in none: each look at `db` is one of its own. What must be written here says so with `write`. */
export type PrepareContext<Row = unknown, Body = unknown> = RequestContext<Row, Body> & { db: Db }

export type Operation<
  Row = any,
  B extends TSchema = any,
  A extends TSchema = any,
  M extends Method = Method,
  P = any,
> = {
  /** `room.verb`; also the name in `berth admin`, the audit log and OpenAPI. */
  id: string
  method: M
  path: string
  summary: string
  /**
   * The scopes of which one is needed, per kind of account. A kind left out may never call it. A staff permission instead of a
   * scope: only a person can have it. `anyone`: before signing in.
   */
  access: Partial<Record<AccountKind, readonly Right[]>> | 'anyone'
  /** Only for who runs the controller, by `berth` on its host: for nobody else is there such a path. Its `access` is empty. */
  localOnly?: true
  /** Needs a person: answers tokens with `token_not_allowed`. */
  requiresSession?: true
  /**
   * A change that a support session may make: what helps the account's holder and can be taken back. Never what
   * touches who they are or who gets in, what they pay for, or what is answered with a secret. Reads are open unless they need a
   * person.
   */
  allowedInSupportSession?: true
  /**
   * Needs somebody who showed within the last ten minutes that they are who they are: what an unlocked screen must not give away. With
   * names: only when the body has one of these fields.
   */
  requiresRecentAuth?: true | readonly string[]
  /** A step of signing in or of showing who one is: few a minute from one address, and whatever is refused stands in the audit log. */
  authAttempt?: true
  /** Who calls it leaves: the browser is told to forget what our pages kept in it. */
  clearsSiteData?: true
  /** What somebody may do whose role demands a second factor, before there is one: set it up, read the own account, leave. */
  withoutSecondFactor?: true
  /** Whose id the first `{…}` of the path is. */
  on?: Resource<Row>
  /** The query parameters it knows: what each may be, and what it does as its description. `run` gets them as the text that was sent. */
  query?: Readonly<Record<string, TSchema>>
  /** How many rows the pages of its list have, where not as usual: it knows `cursor` and `limit` then. */
  pages?: Pages
  body?: B
  response: A
  /** Not JSON but a file: `run` answers its text in pieces, each made when the reader has taken the one before. */
  produces?: 'text/csv' | 'application/jsonl'
  /** 200 done or read, 201 made something, 202 a job goes on. */
  status?: 200 | 201 | 202
  /** Codes of its own, beside those that the gate makes. */
  refuses?: readonly Code[]
  /** Honours Idempotency-Key: remembered for 24 hours in the transaction of the change. */
  idempotent?: true
  /** For an operation whose body has an `action`: what the audit log says of each. */
  actionWords?: Readonly<Record<string, string>>
  /** A ready body for the reference page and the curl line. */
  example?: Static<B>
  /** The scopes that this body, not looked at yet, would give somebody: refused before all else where the caller lacks one. */
  grants?(body: Partial<Static<B>>): Iterable<string>
  /** What the audit log compares before and after; left out, the row behind `on`. For changes of what has no id, or stands in other tables too. */
  auditSnapshot?(call: AppContext & { tx: Db; actor: Actor; target: Row }): Record<string, unknown>
  /** Slow or foreign work before the transaction: hashing, another host. Permission, visibility and body are checked by then. */
  prepare?(call: PrepareContext<Row, Static<B>>): Promise<P>
  /** Short, synchronous, in one transaction: the change, its job, event and audit line are written together or not at all. */
  run(call: Call<Row, Static<B>, P, M>): Static<A>
}

export const operation = <B extends TSchema, A extends TSchema, const M extends Method, Row = unknown, P = undefined>(
  o: Operation<Row, B, A, M, P>,
): Operation<Row, B, A, M, P> => {
  const pages = o.pages ?? (isPage(o.response) ? usualPages : undefined)
  return pages ? { ...o, pages, query: { ...o.query, ...pageQuery(pages) } } : o
}

const usualPages: Pages = { usual: 50, most: 200 }
const isPage = (answer: TSchema): boolean => 'nextCursor' in ((answer as { properties?: object }).properties ?? {})

/** Every query parameter that the operation knows. */
export const queryOf = ({ query = noQuery }: Pick<Operation, 'query'>): Readonly<Record<string, TSchema>> => query
const noQuery = {}
const pageQuery = ({ usual, most }: Pages) => ({
  cursor: t.String({ minLength: 1, description: 'Where the page starts: nextCursor of the page before.' }),
  limit: wholeNumber(`How many at most: ${usual} when nothing is said, ${most} at most.`, 1, { default: usual }),
})

/** A request body: fields that are not listed are refused by name. */
export const fields = <T extends Record<string, TSchema>>(properties: T) =>
  t.Object(properties, { additionalProperties: false })

/** Free text of one line for people: no control characters, no bidirectional overrides, no lone surrogates. */
export const line = (maxLength: number, minLength = 1) =>
  t.String({
    minLength,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]*$',
    title: LINE,
  })
/** An answer that has a name: OpenAPI says it once under that, and a generated client has one type for it. */
export const namedSchema = <const T extends Record<string, TSchema>>(name: string, properties: T) =>
  t.Object(properties, { title: name })
/** A field whose name does not say it all. */
export const described = <T extends TSchema>(schema: T, description: string): T => ({ ...schema, description }) as T
export const nullable = <T extends TSchema>(schema: T) => t.Union([schema, t.Null()])
/** Marks a field that the audit log masks. */
export const secret = <T extends TSchema>(schema: T): T => ({ ...schema, writeOnly: true }) as T

/** What `run` answers where `answers` is said. */
export const stream = t.Unsafe<Iterable<string>>({ type: 'string' })
export const done = namedSchema('Done', {})
export const time = t.String({ format: 'date-time' })

/** The first moment that is not written with a year of four digits any more. */
const YEAR_10000 = Date.UTC(10_000, 0)
/** The moment that a field of a body says. Throws `validation_failed` for a leap second, which no clock here shows, and for other ages. */
export function timeFrom(field: string, text: string): number {
  const at = Date.parse(text)
  if (!(at >= 0 && at < YEAR_10000))
    throw invalid({ field, message: 'must be a time between 1970 and 9999, like 2027-01-31T12:00:00Z.' })
  return at
}

/** Is the job of the answer one that may not have been needed? */
const mayNeedNoJob = ({ status, response }: Operation): boolean =>
  status === 202 && 'anyOf' in (response.properties?.jobId ?? {})

/** The statuses of an answer that is no refusal: what starts a job answers 200 when there is nothing to do on a node. */
export const statusesOf = (op: Operation): readonly number[] => (mayNeedNoJob(op) ? [202, 200] : [op.status ?? 200])

export const statusOf = (op: Operation, body: any): number =>
  mayNeedNoJob(op) && body.jobId === null ? 200 : (op.status ?? 200)

/** A row named in a body, looked up like one in a path: hidden and absent give the same refusal. */
export function see<Row>(tx: Db, actor: Actor, resource: Resource<Row>, id: string, field: string): Row {
  const row = resource.find(tx, actor, id)
  if (!row) throw invalid({ field, message: `No such ${resource.name}.` })
  return row
}

/** Throws `scope_not_allowed`: nobody gives what they do not have. */
export function mustHave(actor: Actor, wanted: Iterable<Scope>) {
  const lacking = [...new Set(wanted)].filter((name) => !actor.scopes.has(name))
  if (lacking.length)
    throw new ApiError(
      'scope_not_allowed',
      `Nobody gives more than they have: ${lacking.join(', ')} is missing here. Leave it out, or ask who has it.`,
      {
        scopes: lacking,
      },
    )
}

/** Does this actor's kind and scope open the operation? The gate refuses by it and buttons are drawn by it. */
export const mayCall = (op: Operation, actor: Actor): boolean =>
  op.localOnly
    ? actor.via.type === 'system'
    : op.access === 'anyone' ||
      (!!op.access[actor.kind]?.some((right) => holds(actor, right)) &&
        !isBarredFromSupportSession(op, actor) &&
        !lacksSecondFactor(op, actor))

/** Is there no token of this kind of account that may call it? What only a permission opens, only a person has. */
export const needsPerson = (op: Operation, kind: AccountKind): boolean => {
  const accepted = op.access === 'anyone' ? undefined : op.access[kind]
  return !!op.requiresSession || (!!accepted && !accepted.some(isScope))
}

export const lacksSecondFactor = (op: Operation, actor: Actor): boolean =>
  !!actor.lacksSecondFactor && !op.withoutSecondFactor

const holds = (actor: Actor, right: Right) =>
  isScope(right) ? actor.scopes.has(right) : actor.via.type !== 'token' && actor.permissions.has(right)

/** Is there a right that the operation takes, the actor has, and the row lets him use? */
export const mayCallOn = (op: Operation, actor: Actor, rights: ReadonlySet<Right>): boolean =>
  op.access === 'anyone' || !!op.access[actor.kind]?.some((right) => holds(actor, right) && rights.has(right))

/** Is it open to somebody in a support session? */
export const isAllowedInSupportSession = (op: Operation): boolean =>
  op.allowedInSupportSession ?? (op.method === 'GET' && !op.requiresSession)

export const isBarredFromSupportSession = (op: Operation, actor: Actor): boolean =>
  actor.via.type === 'support' && !isAllowedInSupportSession(op)
