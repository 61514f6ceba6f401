// Every response leaves through `answered`: of the API, of pages, files, agents' paths and the socket's upgrade. So
// each has a request id and the common headers, and each is in the journal when requests are logged. A refusal is JSON,
// and a page for a browser that asks for one outside of the API.
import { DatabaseUnavailable } from '../db/health.ts'
import { log, plainPath } from '../log.ts'
import { prefersHtml } from '../net/accept.ts'
import { pathStart } from '../net/raw-path.ts'
import { ApiError, type ErrorTable, errorBody, restarting, unknownPath } from './errors.ts'
import type { Client } from './operation.ts'

/** The page of a refusal. */
export type ErrorPage = (error: ApiError, request: IncomingRequest) => Response

/** The context of a request: made on arrival, completed by authentication. */
export class RequestInfo implements Client {
  readonly requestId: string = Bun.randomUUIDv7()
  /** The account or token that asks, once that is known. */
  by?: string
  private address: string | undefined
  constructor(
    private readonly request: Request,
    readonly errors: ErrorTable,
    private readonly whence: () => string,
    /** Undefined where nothing is for browsers. */
    readonly errorPage?: ErrorPage,
  ) {}

  /**
   * The caller's address, after trusted proxies. To find it out costs a tenth of a small read, and few reads need it;
   * what outlives the request has to ask before the response.
   */
  get from(): string {
    return (this.address ??= this.whence())
  }
  get userAgent(): string {
    return this.request.headers.get('User-Agent') ?? ''
  }
  get cookies(): string {
    return this.request.headers.get('Cookie') ?? ''
  }
}
/** A request with its context, as `answered` hands it on. */
export type IncomingRequest = Request & { readonly info: RequestInfo }

/** Browsers ignore HSTS on plain HTTP, so it is sent always. */
const always = {
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
}
/** Defaults for responses that do not set them. */
const unlessSaid = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}
const alwaysNamed = Object.entries(always)
const unlessSaidNamed = Object.entries(unlessSaid)
export const asJson = { 'Content-Type': 'application/json; charset=utf-8' }

/** A response of the API. Headers that are copied whole cost half of the same ones set one by one. */
export class JsonResponse extends Response {
  private static readonly common = new Headers({ ...always, ...unlessSaid, ...asJson })
  constructor(body: string | Buffer<ArrayBuffer> | Blob, status: number) {
    super(body, { status, headers: JsonResponse.common })
  }
}

/** The server ends the connection then, and a client that is not told takes the end for a fault. */
function asksToClose({ headers }: Request): boolean {
  const connection = headers.get('Connection')
  return connection !== null && /(?:^|,)\s*close\s*(?:,|$)/i.test(connection)
}

type Made = Response | undefined
/** `isLast`: the connection ends with this response, because the controller stops. */
type Answering = {
  from: () => string
  logs: boolean
  errors: ErrorTable
  isLast?: () => boolean
  errorPage?: ErrorPage
}
/**
 * `handle` returns undefined when the connection became a socket. An error that it throws becomes a response. The
 * answer is a promise only where that of `handle` is one.
 */
export function answered<T extends Made>(
  request: Request,
  { from, logs, errors, isLast, errorPage }: Answering,
  handle: (request: IncomingRequest) => T | Promise<T>,
): T | Response | Promise<T | Response> {
  const info = new RequestInfo(request, errors, from, errorPage)
  const incoming: IncomingRequest = Object.assign(request, { info })
  const startedAt = logs ? performance.now() : 0
  const finish = (response: T | Response) => {
    if (response) completed(response, info)
    if (response && (isLast?.() || asksToClose(request))) response.headers.set('Connection', 'close')
    if (logs) logRequest(incoming, response, startedAt)
    return response
  }
  const refused = (error: unknown) => finish(refuse(error, incoming))
  try {
    // Nothing depends on the Host header, but the URL of a request with an invalid one cannot be parsed. That of
    // CONNECT is a host alone.
    if (request.method === 'CONNECT') throw unknownPath()
    if (!URL.canParse(request.url))
      throw new ApiError('invalid_request', 'The Host header is not the name of a host. Send the one of this panel.')
    const response = handle(incoming)
    return response instanceof Promise ? response.then(finish, refused) : finish(response)
  } catch (error) {
    return refused(error)
  }
}

function completed(response: Response, { requestId }: RequestInfo) {
  const { headers } = response
  headers.set('X-Request-Id', requestId)
  if (response instanceof JsonResponse) return
  for (const [name, value] of alwaysNamed) headers.set(name, value)
  for (const [name, value] of unlessSaidNamed) if (!headers.has(name)) headers.set(name, value)
}

const logRequest = ({ info, method, url }: IncomingRequest, response: Made, startedAt: number) =>
  log.info('request', {
    requestId: info.requestId,
    method,
    path: plainPath(url),
    status: response?.status ?? 101,
    ms: Math.round(performance.now() - startedAt),
    from: info.from,
    by: info.by,
  })

/** A database that cannot be written as the refusal that it is; any other error as it is. */
export const refusalFrom = (error: unknown): unknown =>
  error instanceof DatabaseUnavailable ? restarting(error.message) : error

/**
 * The response for an error: an ApiError as it is, a database that cannot be written as `restarting`, any other as
 * `internal_error` with its cause in the journal. `headers`: those of this refusal alone.
 */
export function refuse(
  thrown: unknown,
  request: IncomingRequest,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { requestId, errors } = request.info
  const error = refusalFrom(thrown)
  const r =
    error instanceof ApiError
      ? error
      : new ApiError('internal_error', `Something went wrong on our side. Quote ${requestId} when you ask about it.`)
  if (r !== error) log.error('a call broke', { requestId, method: request.method, path: plainPath(request.url), error })
  const { retryAfterSeconds, ...details } = r.details
  const response =
    pageOf(r, request) ??
    new Response(JSON.stringify(errorBody({ code: r.code, message: r.message, details })), {
      status: errors[r.code].status,
      headers: asJson,
    })
  if (retryAfterSeconds !== undefined) response.headers.set('Retry-After', String(retryAfterSeconds))
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}

/** The refusal for a person at a browser; undefined for a program, and for a call of the API. */
function pageOf(error: ApiError, request: IncomingRequest): Response | undefined {
  const { errorPage, requestId, errors } = request.info
  if (!errorPage || !prefersHtml(request) || !URL.canParse(request.url) || isOfApi(request.url)) return undefined
  try {
    return errorPage(error, request)
  } catch (broken) {
    log.error('the page of a refusal broke', { requestId, path: plainPath(request.url), error: broken })
    return new Response(`${error.message}\n\nRequest id: ${requestId}\n`, {
      status: errors[error.code].status,
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    })
  }
}

const isOfApi = (url: string) => /^\/api(?:[/?]|$)/.test(url.slice(pathStart(url)))
