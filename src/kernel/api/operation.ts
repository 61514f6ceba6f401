// The declaration of an operation. Route, 405, validation, permission, idempotency, audit line, OpenAPI entry, button,
// `berth admin` command and the general tests are derived from it.
import { type Static, type TSchema, Type as t } from 'typebox'
import type { MonotonicClock } from '../../../agent/protocol/monotonic-clock.ts'
import { LINE_PATTERN } from '../../../agent/protocol/text.ts'
import type { Heartbeat, ToAgent, Volume } from '../../../agent/protocol/wire.ts'
import type { RefusedLines } from '../audit/refused-lines.ts'
import type { Secrets } from '../crypto/secrets.ts'
import type { Clock } from '../db/clock.ts'
import type { Db, Tx } from '../db/open.ts'
import type { JsonRow, RenderedRows } from '../db/rendered.ts'
import type { Interrupted } from '../jobs/failures.ts'
import type { NodeContact } from '../nodes/contact.ts'
import type { Misconduct } from '../nodes/offences.ts'
import type { NodeReads } from '../nodes/reads.ts'
import { type Place, placed } from '../reader/place.ts'
import type { Reader } from '../reader/reader.ts'
import type { AppConfig, Services } from '../register.ts'
import type { Brand } from '../web/brand.ts'
import { list } from '../words.ts'
import { type AccountKind, isScope, type Right, type Rights, type Scope } from './access.ts'
import type { Actor } from './actor.ts'
import { ApiError, type Code, invalid } from './errors.ts'
import type { Limit } from './limits.ts'
import { oneOf, wholeNumber } from './query.ts'
import { REASON, SEEN_LINE } from './validate.ts'

type ConsoleFrame = Extract<ToAgent, { type: 'console' }>

/** Everything beside the database that an operation may read. Nothing in it changes a row. */
export interface AppContext extends Services {
  config: AppConfig
  /** The time of the product: it never goes back and never jumps. Everything that is stored or measured is in it. */
  clock: Clock
  /** The host's clock, which people and time servers set: for what the outside world compares with its own clocks. */
  wallClock: Clock
  time: MonotonicClock
  secrets: Secrets
  nodes: {
    connected(nodeId: string): boolean
    /** It was connected until a moment ago, or until the controller restarted a moment ago. */
    isReconnecting(nodeId: string): boolean
    /** When a node that is away was last connected, in ms; undefined while it is connected, or was never. */
    lastSeen(nodeId: string): number | undefined
    /** Counts the changes of `lastSeen`, and of what nodes do not answer, of all nodes together. */
    contactVersion(): number
    /** The last one since this controller started, with the time of its arrival. */
    heartbeat(nodeId: string): Omit<Heartbeat, 'type' | 'workloads'> | undefined
    /** Its acts of the last day that no node should do. */
    misconduct(nodeId: string): Misconduct[]
    /** The workloads that run on another node than their home, by the records of a restored database. */
    strays(): readonly { workloadId: string; nodeId: string }[]
    /** The disks of Berth's on it, by its last inventory; undefined: it has sent none since this controller started. */
    disksOn(nodeId: string): readonly Volume[] | undefined
    /** Closes its socket once the transaction at hand is through. */
    disconnect(nodeId: string): void
    /** Asks it by a command that looks, for an answer now; see `NodeReads`. Only for `prepare`. */
    read: NodeReads['read']
    /** Tells it that a viewer waits for a console. False: it is not connected. */
    openConsole(nodeId: string, console: Omit<ConsoleFrame, 'type'>): boolean
    /** Tells it that somebody asks for files of a backup. False: it is not connected. */
    openFiles(nodeId: string, session: string): boolean
    /** Tells it to ask for a release now. False: it is not connected. */
    lookForRelease(nodeId: string): boolean
    /** Tells it that the version which it runs on trial stays. False: it is not connected. */
    acceptRelease(nodeId: string, version: string): boolean
  }
  /** Jobs that an error outside their steps has stopped, until they go on. */
  interruptedJobs(): readonly Interrupted[]
  /** The JSON of rows of long lists. */
  renderedRows: RenderedRows
  /** Makes the reads that may take long. */
  reader: Reader
  /** The contact with every node now, for such a read. */
  contactWithAll(tx: Db): NodeContact
  /** Refuses the 21st sign-in of a minute from one address. */
  signIns: Limit
  /** Counts refused sign-ins of one kind that follow each other, so that one line of the audit log stands for many. */
  refusedLines: RefusedLines
  /** The owners of the installation who can sign in. */
  owners(tx: Db): readonly { id: string; email: string; name: string }[]
  /** The brand that this account sees, and the sender of its mails; `''` is a visitor. */
  brandFor(tx: Db, accountId: string): Brand
  startedAt: number
  /** The pages in this actor's navigation, and the actions it may take with the page of each. */
  navItems(actor: Actor): { type: 'page' | 'action'; title: string; href: string }[]
}

/** A thing with an identifier. `find` is the only way from an id to a row, and it sees only what the actor may. */
export type Resource<Row> = {
  name: string
  notFound: Code
  find(tx: Db, actor: Actor, id: string): Row | undefined
  /**
   * The rights that the actor has on this row, where seeing it does not give all of them. Undefined: all rights of the
   * actor.
   */
  rights?(tx: Db, actor: Actor, row: Row): ReadonlySet<Right> | undefined
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Query = Readonly<Record<string, string>>
/** How many rows a page of a list has when nothing is said, and at most. */
export type Pages = { usual: number; most: number }

export type Became = { id: string; name: string; linkOf?: { kind: AccountKind; name: string } | null }

/** A call before `run`: the actor, the parameters, the body and the request's context. */
export type RequestContext<Row = unknown, Body = unknown> = AppContext & {
  actor: Actor
  params: Readonly<Record<string, string>>
  query: Query
  pages: Pages | undefined
  target: Row
  body: Body
  client: Client
  /**
   * For signing in and out only. `became` is the account of the visitor from now on: it gets the audit line, which also
   * names the link's maker. `result` replaces `done` in that line.
   */
  setCookie(cookie: string, became?: Became, result?: Code): void
}

/** The argument of `run`: the call inside one transaction. A read has no Tx, so it changes nothing. */
export type Call<Row = unknown, Body = unknown, Prepared = unknown, M extends Method = 'POST'> = RequestContext<
  Row,
  Body
> & {
  tx: M extends 'GET' ? Db : Tx
  prepared: Prepared
}
/** The argument of functions that only read. A change satisfies it too. */
export type ReadContext<Row = unknown, Body = unknown> = RequestContext<Row, Body> & { tx: Db }
/**
 * The argument of `prepare`: no transaction is open, and each query sees its own snapshot. A write here needs `write`.
 */
export type PrepareContext<Row = unknown, Body = unknown> = RequestContext<Row, Body> & { db: Db }

/** Things that a call can take away for good. A GPU instance is a server here. */
export const destroyable = ['servers', 'disks', 'backups', 'nodes', 'addresses', 'keys'] as const
export type Destroyed = (typeof destroyable)[number]
/** Kinds of power beyond the name of a right, in the words of the list that a person reviews. */
export const powers = {
  takes_place: 'lets a machine take the place of a node',
  brings_machine: 'brings a machine of the caller that gets new guests, and what nodes are sent',
  loses_many: 'ends, loses or makes unreachable more than one workload',
  lifts_protection: 'weakens what protects others',
  moves_secrets: 'sends secrets or data to a place that the caller names',
  runs_code: 'brings programs or images of the caller to nodes or guests of others',
  gives_access: "gives a caller another account's view or sign-in",
} as const
export type Power = keyof typeof powers

export type Operation<
  Row = any,
  B extends TSchema = any,
  A extends TSchema = any,
  M extends Method = Method,
  P = any,
> = {
  /** `feature.action`; also the name in `berth admin`, the audit log and OpenAPI. */
  id: string
  method: M
  path: string
  summary: string
  /**
   * The rights of which one is needed, per kind of account. A kind that is left out may never call it. A token cannot
   * hold a staff permission, only scopes. `anyone`: without signing in.
   */
  access: Partial<Record<AccountKind, readonly Right[]>> | 'anyone'
  /**
   * Exists on the controller's host only, as a `berth admin` command; over HTTP its path is not found. Its `access` is
   * empty.
   */
  localOnly?: true
  /** Needs a person: answers tokens with `token_not_allowed`. */
  requiresSession?: true
  /**
   * A change that a support session may make: it helps the account's holder and is reversible. Never a change of
   * identity, of access or of costs, and never one that answers a secret. Reads are open unless they require a session.
   */
  allowedInSupportSession?: true
  /**
   * Requires that the person authenticated within the last ten minutes: an unlocked screen must not be enough for it. A
   * list of names: only when the body has one of these fields.
   */
  requiresRecentAuth?: true | readonly string[]
  /**
   * It decides where the credentials or links of others go, so it gives what an owner has, or it lifts a protection of
   * everybody: only an owner may call it, in person and recently confirmed. The sentence tells all owners what was
   * done, over the mail server from before.
   */
  ownerOnly?: string
  /**
   * Things that it takes away for good, at once or when a window ends. The brake counts servers, disks and backups, and
   * `test/every/hardening/destroys.test.ts` runs every change and looks. A DELETE says it in any case; an empty list:
   * nothing.
   */
  destroys?: readonly Destroyed[]
  /**
   * It gives away, ends or makes unreachable what belongs to many: it needs a person who confirmed recently, and no
   * token may do it. The sentence tells all owners by mail what was done.
   */
  tellsOwners?: string | ((target: Row) => string)
  /** Its power beyond the row that it names; `test/every/rights/infrastructure-rights.txt` lists the tokens with it. */
  powers?: readonly Power[]
  /** An attempt to authenticate: limited per address and minute, and each refusal is in the audit log. */
  authAttempt?: true
  /** Ends the use of this browser: it is told to delete the storage of our pages. */
  clearsSiteData?: true
  /**
   * Allowed to a person whose role requires a second factor that is not set up yet: to set it up, read the account,
   * sign out.
   */
  withoutSecondFactor?: true
  /** The resource whose id is the first `{…}` of the path. */
  on?: Resource<Row>
  /**
   * Query parameters with their schemas; the description says what each does. `run` gets them as text, as they were
   * sent.
   */
  query?: Readonly<Record<string, TSchema>>
  /** Rows per page of a list where 50 and 200 do not fit. Adds the parameters `cursor` and `limit`. */
  pages?: Pages
  body?: B
  /** The most values in the body, where the usual 5,000 are too few. */
  mostValues?: number
  /** The longest body in bytes, where a megabyte is too short. */
  mostBytes?: number
  response: A
  /**
   * A file instead of JSON: `run` returns an iterable of text, or of `application/octet-stream` a `ByteFile`, read as
   * fast as the client takes it.
   */
  produces?: 'text/csv' | 'application/jsonl' | 'text/plain' | 'application/octet-stream'
  /**
   * It may take long, so a thread of its own does it, on a connection that only reads: what it prepares, which has to
   * be plain values, or else all of it: the file that it `produces`, or its page. There is no more of the context than
   * `AtReader` says.
   */
  atReader?: true
  /** 200 done or read, 201 created, 202 a job continues. */
  status?: 200 | 201 | 202
  /** Codes beside those that the gate may answer. */
  refuses?: readonly Code[]
  /** Honours Idempotency-Key: the response is stored for 24 hours, in the transaction of the change. */
  idempotent?: true
  /**
   * Takes `?dryRun=true`: every check and `run` are as ever, and then all of it is rolled back. Nothing is stored,
   * emitted, audited or remembered under the key, and the status is 200. `run` answers null for ids.
   */
  dryRun?: true
  /**
   * Its words in activity and in the audit log: `Started a backup`. Without it, they are the beginning of the summary
   * in the past tense.
   */
  past?: string
  /** For an operation whose body has an `action`: what each does, as on its button. */
  actionWords?: Readonly<Record<string, string>>
  /** A ready body for the reference page and the curl line. */
  example?: Static<B>
  /** The scopes that the body, not validated yet, would grant. Refused early when the caller lacks one. */
  grants?(body: Partial<Static<B>>): Iterable<string>
  /** The part of the body that the audit log holds, where the whole says nothing more; by default all of it. */
  auditBody?(body: Static<B>): Record<string, unknown>
  /** The state that the audit log compares before and after; by default the row behind `on`. */
  auditSnapshot?(call: AppContext & { tx: Db; actor: Actor; target: Row }): Record<string, unknown>
  /**
   * Slow or external work before the transaction: hashing, another host. Permission, visibility and body are checked
   * already.
   */
  prepare?(call: PrepareContext<Row, Static<B>>): Promise<P>
  /**
   * Short and synchronous, in one transaction: the change, its job, event and audit line commit together. A read may
   * answer JSON that is at hand.
   */
  run(call: Call<Row, Static<B>, P, M>): Static<A> | (M extends 'GET' ? JsonRow<Static<A>> : never)
}

/** Declares an operation. A list gets the parameters of its pages. */
export const operation = <B extends TSchema, A extends TSchema, const M extends Method, Row = unknown, P = undefined>(
  o: Operation<Row, B, A, M, P> & (M extends 'DELETE' ? { destroys: readonly Destroyed[] } : unknown),
): Operation<Row, B, A, M, P> => {
  const pages = o.pages ?? (isPage(o.response) ? usualPages : undefined)
  const asked = o.dryRun ? { ...o, query: { ...o.query, ...dryRunQuery } } : o
  const paged = pages ? { ...asked, pages, query: { ...asked.query, ...pageQuery(pages) } } : asked
  const tellsOwners = o.tellsOwners ?? o.ownerOnly
  return tellsOwners ? { ...paged, tellsOwners, requiresSession: true, requiresRecentAuth: true } : paged
}

const dryRunQuery = {
  dryRun: oneOf(['true', 'false'], 'With true every check is made and nothing is done.'),
}
/** Is it a call that is only checked? */
export const isDryRun = (op: Pick<Operation, 'dryRun'>, query: Query): boolean =>
  !!op.dryRun && query['dryRun'] === 'true'

const usualPages: Pages = { usual: 50, most: 200 }
const isPage = (answer: TSchema): boolean => 'nextCursor' in ((answer as { properties?: object }).properties ?? {})

/** Every query parameter that the operation knows. */
export const queryOf = ({ query = noQuery }: Pick<Operation, 'query'>): Readonly<Record<string, TSchema>> => query
const noQuery = {}
const pageQuery = ({ usual, most }: Pages) => ({
  cursor: t.String({ minLength: 1, description: 'Where the page starts: nextCursor of the page before.' }),
  limit: wholeNumber(`How many at most: ${usual} when nothing is said, ${most} at most.`, 1, { default: usual }),
})

/** The client of a call, as its request tells. Each part is looked up when it is asked for: most calls need none. */
export type Client = {
  /** Its address, after trusted proxies. */
  readonly from: string
  readonly userAgent: string
  /** The Cookie header: a browser without a session keeps state in it. */
  readonly cookies: string
  readonly requestId: string
}
export const unknownClient: Client = { from: '', userAgent: '', cookies: '', requestId: '' }

/** A call as it was sent. */
export type CallRequest = {
  params?: Readonly<Record<string, string>>
  query?: Query
  body?: unknown
  idempotencyKey?: string
  client?: Client
}

/**
 * The response to a call; `replayed`: it repeats the response to an earlier call with the same key. `json`: the body as
 * UTF-8, where it was at hand.
 */
export type CallResult = {
  status: number
  readonly body: any
  replayed?: true
  cookies?: readonly string[]
  json?: Buffer<ArrayBuffer>
}

/** The response whose JSON was at hand; who wants the value gets one of their own, parsed at its first use. */
export class RenderedResult implements CallResult {
  private parsed: unknown
  constructor(
    readonly status: number,
    private readonly row: JsonRow<unknown>,
    /** Of a page: where it stands in its list. */
    private readonly place?: Place,
  ) {}
  get json(): Buffer<ArrayBuffer> {
    return this.row.bytes
  }
  get body(): unknown {
    return (this.parsed ??= placed(JSON.parse(this.row.text), this.place))
  }
}

/** Checks a call, runs it and writes its audit line. Throws `ApiError` when the call is refused. */
export type Gate = (op: Operation, actor: Actor | undefined, request?: CallRequest) => CallResult | Promise<CallResult>

/** A request body: fields that are not listed are refused by name. */
export const fields = <T extends Record<string, TSchema>>(properties: T) =>
  t.Object(properties, { additionalProperties: false })

/** A name of spaces cannot be told from no name, nor clicked. Some letters are blank too, e.g. the Hangul filler. */
const SEEN_SIGN = '[^\\p{Z}\\p{C}\\p{M}\\p{Default_Ignorable_Code_Point}\\u2800]'
const SEEN = `(?=.*${SEEN_SIGN})`
const SEEN_PATTERN = SEEN + LINE_PATTERN.slice(1, -1)
/**
 * Free text of one line for people, with something that can be seen: no control characters, no direction or invisible
 * marks, no lone surrogates. With a `minLength` of 0 it may be empty.
 */
export const line = (maxLength: number, minLength = 1) =>
  t.String({
    minLength,
    maxLength,
    pattern: minLength ? `^${SEEN_PATTERN}$` : `^(?:${SEEN_PATTERN})?$`,
    title: SEEN_LINE,
  })
/** Free text of many lines for people, or an empty one: no control characters but tabs and ends of lines. */
export const paragraphs = (maxLength: number) =>
  t.String({
    maxLength,
    pattern: `^(?:(?=[\\s\\S]*${SEEN_SIGN})[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+)?$`,
    title: 'text with something that can be seen, without control characters',
  })
/** Some letters are invisible, such as the Hangul filler. */
const VISIBLE = '(?=.*(?!\\p{Default_Ignorable_Code_Point})[\\p{L}\\p{N}])'
/** A reason that is read later: trimmed, and with a letter or a digit that can be seen. */
export const reasonText = (maxLength: number) =>
  t.String({ minLength: 1, maxLength, pattern: `^${VISIBLE}${LINE_PATTERN.slice(1)}`, title: REASON })
/** A schema with a name: OpenAPI has it once, and a generated client has one type for it. */
export const namedSchema = <const T extends Record<string, TSchema>>(name: string, properties: T) =>
  t.Object(properties, { title: name })
/** Adds the description of a field. */
export const described = <T extends TSchema>(schema: T, description: string): T => ({ ...schema, description }) as T
export const nullable = <T extends TSchema>(schema: T) => t.Union([schema, t.Null()])
/** Marks a field that the audit log masks. */
export const secret = <T extends TSchema>(schema: T): T => ({ ...schema, writeOnly: true }) as T

/** The response of an operation that `produces` a file. */
export const stream = t.Unsafe<Iterable<string>>({ type: 'string' })
/** A file of bytes. Its stream fails when it ends before `sizeBytes`, which breaks the response off. */
export type ByteFile = { name: string; sizeBytes: number; bytes: ReadableStream<Uint8Array> }
/** The response of an operation that produces `application/octet-stream`. */
export const byteFile = t.Unsafe<ByteFile>({ type: 'string', format: 'binary' })
export const done = namedSchema('Done', {})
export const time = t.String({ format: 'date-time' })

/** The first moment whose year has five digits. */
const YEAR_10000 = Date.UTC(10_000, 0)
/**
 * The moment in a field of a body, in ms. Throws `validation_failed` for a leap second and outside the years 1970 to
 * 9999.
 */
export function timeFrom(field: string, text: string): number {
  const at = Date.parse(text)
  if (!(at >= 0 && at < YEAR_10000))
    throw invalid({ field, message: 'must be a time between 1970 and 9999, like 2027-01-31T12:00:00Z.' })
  return at
}

/** May the response have no job, because there was no work for a node? */
const mayNeedNoJob = ({ status, response }: Operation): boolean =>
  status === 202 && 'anyOf' in (response.properties?.jobId ?? {})

/** The statuses of success: an operation that starts a job answers 200 when there is nothing to do on a node. */
export const statusesOf = (op: Operation): readonly number[] =>
  mayNeedNoJob(op) ? [202, 200] : op.dryRun && op.status ? [op.status, 200] : [op.status ?? 200]

export const statusOf = (op: Operation, body: any): number =>
  mayNeedNoJob(op) && body.jobId === null ? 200 : (op.status ?? 200)

/** A row named in a body, looked up like one in a path: hidden and absent give the same refusal. */
export function see<Row>(tx: Db, actor: Actor, resource: Resource<Row>, id: string, field: string): Row {
  const row = resource.find(tx, actor, id)
  if (!row) throw invalid({ field, message: `No such ${resource.name}.` })
  return row
}

/** “See servers” and “Reinstall servers”; each right once. */
export const rightsInWords = ({ scopes, permissions }: Rights, rights: readonly Right[]): string =>
  list(
    [...new Set(rights.map((right) => (isScope(right) ? scopes[right] : permissions[right]).words))].map(
      (words) => `“${words}”`,
    ),
  )

/** Throws `scope_not_allowed`: nobody gives what they do not have. */
export function mustHave({ actor, registry }: { actor: Actor; registry: Rights }, wanted: Iterable<Scope>) {
  const lacking = [...new Set(wanted)].filter((name) => !actor.scopes.has(name))
  if (lacking.length)
    throw new ApiError(
      'scope_not_allowed',
      `You cannot grant more than you have: ${rightsInWords(registry, lacking)} ` +
        `${lacking.length === 1 ? 'is' : 'are'} missing. ` +
        'Leave out what you lack, or ask someone who has it.',
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
        !lacksOwnership(op, actor) &&
        !isBarredFromSupportSession(op, actor) &&
        !lacksSecondFactor(op, actor))

/** All of an actor that `mayCall` and `mayCallOn` read: who has the same key may call the same operations. */
export const rightsKey = ({ kind, via, isOwner, lacksSecondFactor, scopes, permissions }: Actor): string =>
  [kind, via.type, isOwner ? 'owner' : '', lacksSecondFactor ? 'limited' : 'full', ...scopes, ...permissions].join(' ')

/** Is there no token of this kind of account that may call it? What only a permission opens, only a person has. */
export const needsPerson = (op: Operation, kind: AccountKind): boolean => {
  const accepted = op.access === 'anyone' ? undefined : op.access[kind]
  return !!op.requiresSession || (!!accepted && !accepted.some(isScope))
}

export const lacksOwnership = (op: Operation, actor: Actor): boolean => !!op.ownerOnly && !actor.isOwner

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
