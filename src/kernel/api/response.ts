// The way out. Every answer there is, of the API, of pages, files and agents' paths, of the socket's upgrade, leaves through
// `answered`: so each has its request id and the headers that all have, and each is in the journal when requests are logged.
import { log, plainPath } from '../log.ts'
import { ApiError, errorBody } from './errors.ts'

/** What is known of a request since it came in. */
export type RequestInfo = {
  requestId: string
  /** The caller's address, after trusted proxies. */
  from: string
  /** The account or token that asks, once that is known. */
  by?: string
}
const heard = new WeakMap<Request, RequestInfo>()

/** Throws for a request that did not come in through `answered`. */
export function requestContext(request: Request): RequestInfo {
  const it = heard.get(request)
  if (!it) throw new Error('a request that nobody has heard')
  return it
}

/** HSTS is ignored by browsers on plain HTTP, so it can always stand there. */
const always = Object.entries({
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
})
/** Of an answer that says nothing else. */
const unlessSaid = Object.entries({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
})

type Made = Response | undefined
/** `handle` answers nothing where it made a socket of the connection. Whatever it throws is answered as a refusal. */
export async function answered<T extends Made>(
  request: Request,
  { from, logs }: { from: string; logs: boolean },
  handle: () => T | Promise<T>,
): Promise<T | Response> {
  const it: RequestInfo = { requestId: Bun.randomUUIDv7(), from }
  heard.set(request, it)
  const startedAt = logs ? performance.now() : 0
  let response: T | Response
  try {
    // Nothing of ours depends on the Host header, but the address of a request with a nonsensical one cannot be read.
    if (!URL.canParse(request.url))
      throw new ApiError('invalid_request', 'The Host header is not the name of a host. Send the one of this panel.')
    response = await handle()
  } catch (error) {
    response = refuse(error, request)
  }
  if (response) {
    const { headers } = response
    headers.set('X-Request-Id', it.requestId)
    for (const [name, value] of always) headers.set(name, value)
    for (const [name, value] of unlessSaid) if (!headers.has(name)) headers.set(name, value)
  }
  if (logs)
    log.info('request', {
      requestId: it.requestId,
      method: request.method,
      path: plainPath(request.url),
      status: response?.status ?? 101,
      ms: Math.round(performance.now() - startedAt),
      from,
      by: it.by,
    })
  return response
}

export const asJson = { 'Content-Type': 'application/json; charset=utf-8' }

/** Any error as an answer: refusals as they are, everything else as a request id whose cause is in the journal. */
export function refuse(error: unknown, request: Request): Response {
  const { requestId } = requestContext(request)
  const r =
    error instanceof ApiError
      ? error
      : new ApiError('internal_error', `Something went wrong on our side. Quote ${requestId} when you ask about it.`)
  if (r !== error) log.error('a call broke', { requestId, method: request.method, path: plainPath(request.url), error })
  const { retryAfterSeconds, ...details } = r.details
  return new Response(JSON.stringify(errorBody({ code: r.code, message: r.message, details })), {
    status: r.status,
    headers: retryAfterSeconds === undefined ? asJson : { ...asJson, 'Retry-After': String(retryAfterSeconds) },
  })
}
