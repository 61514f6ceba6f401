// Mounts operations on Elysia. Elysia finds the route; this file and the gate decide everything else, because the
// framework answers bad bodies and wrong methods in another way than the API promises.
import { Elysia } from 'elysia'
import { isCsrfToken } from '../crypto/csrf-token.ts'
import { KnownPaths } from '../net/known-paths.ts'
import { pathStart } from '../net/raw-path.ts'
import { bodyOf, formOf } from '../net/request-body.ts'
import type { UiPreferences } from '../register.ts'
import type { Actor } from './actor.ts'
import { ApiError, type Code, type ErrorTable, restarting, unknownPath } from './errors.ts'
import { keyFrom } from './idempotency.ts'
import { addressKey, type Limit } from './limits.ts'
import { JsonPage } from './list.ts'
import type { ByteFile, CallRequest, CallResult, Gate, Operation, Query } from './operation.ts'
import { asJson, type IncomingRequest, JsonResponse, refuse } from './response.ts'

/** Tells the browser to forget all that it kept of this site, but for its files and cookies. */
export const CLEARS_SITE_DATA = '"storage"'

export const API_ROOT = '/api/v1'

export type Sender = {
  actor: Actor | undefined
  /** The secret of which a change from a browser must carry a CSRF token; undefined for tokens and the local socket. */
  browser?: { csrf: string; uiPreferences: UiPreferences }
  /** Addresses from which the token may be used; empty: from everywhere. */
  allowed?: (address: string) => boolean
  /**
   * Notes the use of the token, once the call has passed the list of addresses and the rate limit. It is written with
   * the call's change or by `settle`.
   */
  used?(): void
  /** The bucket its calls count in. */
  limitKey: string
}

export type HttpContext = {
  gate: Gate
  /** Counts and records an attempt to authenticate that is refused before the gate; answers the error to throw. */
  refused(op: Operation, request: CallRequest, error: unknown): unknown
  /** Throws `invalid_token`. `on`: a page is for a person, so it ignores a token. */
  authenticate(request: IncomingRequest, on?: 'page'): Sender
  /** Writes the uses of tokens that no change has taken along. */
  settle(): void
  /** Is there nothing for `settle` to write? */
  isSettled(): boolean
  /** One snapshot of the database, which the gate uses too: a second one costs as much as looking up a token. */
  reading<T>(work: () => T): T
  origin: string
  calls: Pick<Limit, 'take' | 'count'>
  restarting(): boolean
  /** Throws `DatabaseUnavailable`, before a change does anything beside the database. */
  mustBeWritable(): void
}

type Answer = (request: IncomingRequest, params: Record<string, string>) => Made
/** `ALL` is every other method. */
const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'ALL'] as const
export type Method = (typeof everyMethod)[number]
type Made = Response | Promise<Response>
const refusing = (request: IncomingRequest) => (error: unknown) => refuse(error, request)

/** The routes of a controller: a method of a path each, and the refusal of every other method. */
export class Routes {
  readonly router = new Elysia()
  private readonly paths = new KnownPaths<Method>()

  constructor(private readonly httpContext: HttpContext) {}

  /** Errors of `answer` are answered like those of the API. */
  add(method: Method, path: string, answer: Answer) {
    this.mount(method, path, answer)
    if (method !== 'HEAD' && path !== EVERY_PATH) this.paths.add(method, path)
  }

  private mount(method: Method, path: string, answer: Answer) {
    // Elysia makes a route asynchronous by a `parse`, or by a call behind `return` or an arrow in the handler's text.
    // So this one has none: a read whose response is no promise costs a fifth less.
    const handle = ({ request, params }: { request: IncomingRequest; params: Record<string, string> }): Made => {
      let made: Made
      try {
        made = answer(request, params)
        if (made instanceof Promise) made = made.catch(refusing(request))
      } catch (error) {
        made = refuse(error, request)
      }
      return made
    }
    // This file reads the body by its own rules, so the framework must not.
    this.router.route(method, path, handle as any, (isRead(method) ? {} : { parse: 'none' }) as any)
  }

  addOperations(operations: readonly Operation[]) {
    for (const op of operations) {
      const path = API_ROOT + op.path.replace(/\{(\w+)\}/g, ':$1')
      for (const method of op.method === 'GET' ? (['GET', 'HEAD'] as const) : [op.method])
        this.add(method, path, answering(this.httpContext, op))
    }
  }

  /** A document that is open to anyone and constant while the program runs. */
  addDocument(path: string, document: () => unknown) {
    let written: string | undefined
    const text = () => (written ??= JSON.stringify(document()))
    for (const method of ['GET', 'HEAD'] as const)
      this.add(method, API_ROOT + path, answering(this.httpContext, { text }))
  }

  /** Refuses what no route answers; to be called when all are added. */
  refuseOthers() {
    for (const [path, known] of this.paths.all())
      for (const method of this.uncaught(path))
        if (!known.includes(method) && !(method === 'HEAD' && known.includes('GET')))
          this.mount(method, path, answering(this.httpContext, known))
    const elsewhere = answering(this.httpContext, (path) => this.paths.methodsAt(path))
    // Each method by name, never `all`: the router prefers `GET *` of the pages to `all` of a path of the API.
    for (const method of everyMethod) {
      for (const path of ['/api', '/api/*']) this.mount(method, path, elsewhere)
      // Pages have GET only: every other method on an unknown path gets an error of the API.
      if (!isRead(method)) this.mount(method, EVERY_PATH, elsewhere)
    }
  }

  /** The methods that the router would give to another route than `elsewhere`, where the path has none for them. */
  private uncaught(path: string): Iterable<Method> {
    if (path.endsWith('/*')) return everyMethod
    const shadowing = this.paths
      .shadowing(path)
      .flatMap((method) => (method === 'GET' ? [method, 'HEAD' as const] : method))
    return new Set([...(path.startsWith('/api/') ? [] : everyMethod.filter(isRead)), ...shadowing])
  }
}

const EVERY_PATH = '/*'
const isRead = (method: Method) => method === 'GET' || method === 'HEAD'

/** The router takes `/account/sessions/` for `/account/sessions`, but such a path has lost the id at its end. */
function endsInSlash(url: string): boolean {
  const query = url.indexOf('?')
  const last = (query < 0 ? url.length : query) - 1
  return url.charCodeAt(last) === 47 && last > pathStart(url)
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return url.slice(pathStart(url), query < 0 ? undefined : query)
}

/** The operation, a document, the methods of a path that has no such method, or undefined for an unknown path. */
type Found = Operation | { text(): string } | readonly string[] | undefined

/** The answer of a path to one operation, for a route outside of the API that answers as the operation does. */
export const answeringAs = (httpContext: HttpContext, op: Operation): ((request: IncomingRequest) => Made) => {
  const answer = answering(httpContext, op)
  return (request) => answer(request, {})
}

function answering(httpContext: HttpContext, found: Found | ((path: string) => Found)) {
  return (request: IncomingRequest, params: Record<string, string>): Made => {
    const { url } = request
    const known = endsInSlash(url) ? undefined : typeof found === 'function' ? found(pathOf(url)) : found
    if (known === undefined || Array.isArray(known)) httpContext.calls.count(addressKey(request.info.from))
    if (known === undefined) throw unknownPath()
    if ('id' in known) {
      const result = answer(httpContext, known, request, params)
      const { method } = request
      return result instanceof Promise ? result.then((done) => show(known, done, method)) : show(known, result, method)
    }
    return 'text' in known ? give(httpContext, known.text(), request) : otherMethod(request, known)
  }
}

function show(op: Operation, result: CallResult, method: string): Response {
  const { status, replayed, cookies = [], json } = result
  if (json) return new JsonResponse(json, status)
  const { body } = result
  if (op.produces === 'application/octet-stream') return fileOf(method === 'HEAD' ? unread(body) : body, status)
  if (op.produces)
    return new Response(inPieces(body), {
      status,
      headers: {
        'Content-Type': `${op.produces}; charset=utf-8`,
        'Content-Disposition': `attachment; filename="${op.path.split('/').at(-1)}"`,
      },
    })
  const response = new JsonResponse(jsonOf(body), status)
  if (replayed) response.headers.set('Idempotency-Replayed', 'true')
  if (op.clearsSiteData) response.headers.set('Clear-Site-Data', CLEARS_SITE_DATA)
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
  return response
}

/**
 * The file without its bytes, for `HEAD`. The router would read all of them, for their length alone: it gets one piece
 * that says how long it is.
 */
function unread({ bytes, ...file }: ByteFile): ByteFile {
  void bytes.cancel()
  const length = new ReadableStream({
    start(stream) {
      stream.enqueue({ byteLength: file.sizeBytes })
      stream.close()
    },
  })
  return { ...file, bytes: length }
}

/** A browser stores it under its name and shows nothing of it, whatever it is. */
const fileOf = ({ name, sizeBytes, bytes }: ByteFile, status: number) =>
  new Response(bytes, {
    status,
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Length': String(sizeBytes),
      'Content-Disposition':
        `attachment; filename="${name.replace(/[^A-Za-z0-9._-]/g, '_')}"; ` +
        `filename*=UTF-8''${encodeURIComponent(name.toWellFormed()).replace(/['()*]/g, escape)}`,
    },
  })

const jsonOf = (body: unknown) => (body instanceof JsonPage ? body.joined.whole() : JSON.stringify(body))

/** Sends the next part when the client has read the last one, and yields to other requests in between. */
function inPieces(file: Iterable<string> | AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  if (Symbol.asyncIterator in file) return asTheyCome(file[Symbol.asyncIterator]())
  const left = file[Symbol.iterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(stream) {
      await Bun.sleep(0)
      const { done, value } = left.next()
      if (done) stream.close()
      else stream.enqueue(encoder.encode(value))
    },
    cancel: () => void left.return?.(),
  })
}

const asTheyCome = (parts: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(stream) {
      const { done, value } = await parts.next()
      if (done) stream.close()
      else stream.enqueue(value)
    },
    cancel: () => void parts.return?.(),
  })

function give(httpContext: HttpContext, text: string, request: IncomingRequest) {
  httpContext.calls.take(addressKey(request.info.from))
  return new Response(text, { headers: asJson })
}

function otherMethod(request: IncomingRequest, known: readonly string[]): Response {
  const allow = [...known, ...(known.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { Allow: allow } })
  const error = new ApiError('method_not_allowed', `${request.method} is not possible here; ${allow} are.`)
  return refuse(error, request, { Allow: allow })
}

/** The order of checks is a promise: a call with two mistakes is refused for the one that comes first here. */
export function checksOf(errors: ErrorTable): readonly (readonly Code[])[] {
  const ofStatus = (status: number) => (Object.keys(errors) as Code[]).filter((code) => errors[code].status === status)
  return [
    ['not_found'],
    ['method_not_allowed'],
    ['not_authenticated', 'invalid_token'],
    ['ip_not_allowed'],
    ['rate_limited'],
    ['restarting'],
    ['bad_origin', 'csrf_failed'],
    ['unsupported_media_type'],
    ['too_large'],
    ['invalid_json'],
    ['invalid_idempotency_key'],
    ['invalid_request'],
    [
      'second_factor_required',
      'token_not_allowed',
      'support_session',
      'forbidden',
      'missing_scope',
      'scope_not_allowed',
      'confirmation_required',
    ],
    ofStatus(404).filter((code) => code !== 'not_found'),
    ofStatus(422),
    ofStatus(409),
  ]
}

/** A read is answered at once: to wait for a promise costs the server a tenth of a small read. */
function answer(
  httpContext: HttpContext,
  op: Operation,
  request: IncomingRequest,
  params: Record<string, string>,
): CallResult | Promise<CallResult> {
  if (op.method === 'GET') return read(httpContext, op, request, params)
  mustBeKnown(request)
  const sender = inTime(httpContext, op, request)
  mustTakeChanges(httpContext)
  try {
    if (sender.browser || !sender.actor) sameSite(httpContext, request, sender)
  } catch (error) {
    throw httpContext.refused(op, { client: request.info }, error)
  }
  return change(httpContext, op, sender, request, params)
}

function mustTakeChanges(httpContext: HttpContext) {
  if (httpContext.restarting())
    throw restarting('Berth is restarting. Reads keep working; try the change again in a minute.')
  httpContext.mustBeWritable()
}

/**
 * The fields of a form that a browser sends by itself, for a call of an operation that is open to anyone. Checked as a
 * call of the API is, in the same order; the origin must be ours also where there is no session, because no token says
 * that our page had the form. Throws like such a call.
 */
export async function formFrom(
  httpContext: HttpContext,
  op: Operation,
  request: IncomingRequest,
): Promise<Record<string, string>> {
  mustBeKnown(request)
  httpContext.calls.take(addressKey(request.info.from))
  mustTakeChanges(httpContext)
  try {
    mustHaveOurOrigin(httpContext, request)
    return await formOf(request)
  } catch (error) {
    throw httpContext.refused(op, { client: request.info }, error)
  }
}

/**
 * The address is known while the connection stands, so it is looked up before anything is waited for: who hangs up
 * meanwhile is named in the audit log all the same. Throws `invalid_request` where it is gone already: nobody gets the
 * answer, and a change must not be nobody's.
 */
function mustBeKnown({ info }: IncomingRequest) {
  if (info.from === '')
    throw new ApiError('invalid_request', 'The connection broke off before the call began. Send it again.')
}

/** The sender, if it may go on and has not called too often. */
function inTime(httpContext: HttpContext, op: Operation, request: IncomingRequest): Sender {
  const sender = admitted(httpContext, op, request)
  httpContext.calls.take(sender.actor ? sender.limitKey : addressKey(request.info.from))
  return sender
}

function read(
  httpContext: HttpContext,
  op: Operation,
  request: IncomingRequest,
  params: Record<string, string>,
): CallResult | Promise<CallResult> {
  const withSender = () => {
    const sender = inTime(httpContext, op, request)
    sender.used?.()
    return sender
  }
  const through = (sender: Sender) => httpContext.gate(op, sender.actor, callOf(request, params))
  // A session is noted as seen by a transaction of its own, and so is a token at its first use in a minute.
  const isToken = request.headers.get('Authorization') !== null
  const done = isToken
    ? httpContext.reading(() => {
        const sender = withSender()
        return httpContext.isSettled() ? through(sender) : sender
      })
    : withSender()
  if (!('limitKey' in done)) return done
  httpContext.settle()
  return through(done)
}

async function change(
  { gate, refused, settle }: HttpContext,
  op: Operation,
  { actor, used }: Sender,
  request: IncomingRequest,
  params: Record<string, string>,
): Promise<CallResult> {
  used?.()
  try {
    const read = async () => {
      const body = await bodyOf(request, op)
      const idempotencyKey = keyFrom(request.headers.get('Idempotency-Key'))
      return { ...callOf(request, params), body, ...(idempotencyKey ? { idempotencyKey } : {}) }
    }
    const call = await read().catch((error) => {
      throw refused(op, { client: request.info }, error)
    })
    return await gate(op, actor, call)
  } finally {
    settle()
  }
}

const callOf = (request: IncomingRequest, params: Record<string, string>): CallRequest => ({
  params,
  query: queryOf(request),
  client: request.info,
})

/** The sender, if it may go on. A refusal counts as a call of its address, so that guessing is limited. */
function admitted(httpContext: HttpContext, op: Operation, request: IncomingRequest): Sender {
  try {
    const { info } = request
    const sender = httpContext.authenticate(request)
    if (!sender.actor && op.access !== 'anyone')
      throw new ApiError('not_authenticated', 'Sign in, or send a token in the Authorization header.')
    if (sender.allowed && !sender.allowed(info.from))
      throw new ApiError(
        'ip_not_allowed',
        `This token may not be used from ${info.from}. Call from an address on its list, or have the list changed.`,
      )
    return sender
  } catch (error) {
    httpContext.calls.count(addressKey(request.info.from))
    throw error
  }
}

/** A browser's change must come from our own pages: exact origin, and the token that only our pages know. */
function sameSite(httpContext: HttpContext, request: Request, sender: Sender) {
  const site = request.headers.get('Sec-Fetch-Site')
  const origin = request.headers.get('Origin')
  if (!sender.browser && origin === null && site === null) return // not a browser: signing in by script
  mustHaveOurOrigin(httpContext, request)
  if (sender.browser && !isCsrfToken(request.headers.get('X-CSRF-Token'), sender.browser.csrf))
    throw new ApiError('csrf_failed', 'This page is out of date. Reload it and try again.')
}

function mustHaveOurOrigin(httpContext: HttpContext, request: Request) {
  const site = request.headers.get('Sec-Fetch-Site')
  const origin = request.headers.get('Origin')
  if (origin !== httpContext.origin || (site !== null && site !== 'same-origin'))
    throw new ApiError(
      'bad_origin',
      `This call must come from ${httpContext.origin}. If that is not the address in your browser, set ` +
        'PANEL_PUBLIC_URL to the one that is.',
    )
}

function queryOf(request: Request): Query {
  const start = request.url.indexOf('?')
  if (start < 0) return {}
  const query: Record<string, string> = Object.create(null)
  const text = request.url.slice(start + 1)
  // With nothing to decode: splitting takes a third of the time.
  const parameters = /[%+]/.test(text) ? new URLSearchParams(text) : plainParameters(text)
  for (const [name, value] of parameters) {
    if (name in query)
      throw new ApiError('invalid_request', `The query parameter "${name.slice(0, 40)}" is given twice. Send it once.`)
    query[name] = value
  }
  return query
}

const plainParameters = (text: string): [name: string, value: string][] =>
  text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
    })
