// Pages over HTTP: who is it, render, wrap, and the headers that every page has.
import { randomBytes } from 'node:crypto'
import { type Actor, visitor } from '../api/actor.ts'
import { ApiError } from '../api/errors.ts'
import type { HttpContext, Routes } from '../api/http.ts'
import { addressKey } from '../api/limits.ts'
import type { Operation } from '../api/operation.ts'
import { type IncomingRequest, refusalFrom } from '../api/response.ts'
import { csrfToken } from '../crypto/csrf-token.ts'
import type { Clock } from '../db/clock.ts'
import { log, plainPath } from '../log.ts'
import type { Registry } from '../registry.ts'
import type { Brand } from './brand.ts'
import { compressed } from './compressed.ts'
import { CSP_REPORT } from './csp-report.ts'
import { type Html, rendered } from './html.ts'
import type { NavEntry } from './navigation.ts'
import { type At, isFor, type Leads, mayFor, noPage, type Page, type Reads, readAll, render } from './page.ts'
import { inContext } from './page-context.ts'
import { PART, partResponse, tagOf } from './part.ts'

/** `always` is what the frame of every page shows; nothing of it where nobody is signed in or the page is refused. */
export type Frame<A = any> = { title: string; body: Html; page: Page | undefined; at: At; nonce: string; always: A }
export type Site = {
  registry: Registry
  pages: readonly Page[]
  /** The reads of the document around every page. */
  always: Reads
  /** The document around a page's body. */
  layout(frame: Frame): Html
  /** Markup from outside of a live part that is sent with it. */
  beside(frame: Frame): Html
  /** Do its reads say that work is going on, of which the page tells how long it takes? */
  isRunning(always: any): boolean
  /** The address of a file for the browser, by the name that views know. */
  asset(name: string): string
  /** The page of a refusal. */
  errorPage(refusal: { status: number; message: string }, requestId: string, at: At): { title: string; body: Html }
  httpContext: HttpContext
  brand(accountId: string): Brand
  clock: Clock
  insecure: boolean
  leads: Leads
  isInNav(entry: NavEntry, actor: Actor): boolean
}

export function addPages(routes: Routes, site: Site) {
  for (const p of site.pages) {
    const path = p.path.replace(/\{(\w+)\}/g, ':$1')
    for (const method of ['GET', 'HEAD'] as const)
      routes.add(method, path, (request, params) => answer(site, p, request, params))
  }
  for (const method of ['GET', 'HEAD'] as const)
    routes.add(method, '/*', (request) => answer(site, undefined, request, {}))
}

async function answer(
  site: Site,
  p: Page | undefined,
  request: IncomingRequest,
  params: Record<string, string>,
): Promise<Response> {
  const { requestId, from, errors } = request.info
  const url = new URL(request.url)
  let at = atFor(site, request, params, undefined)
  try {
    const sender = site.httpContext.authenticate(request, 'page')
    site.httpContext.calls.take(sender.actor ? sender.limitKey : addressKey(from))
    at = atFor(site, request, params, sender)
    if (!sender.actor && !p?.open) return seeOther(`/login?next=${encodeURIComponent(url.pathname + url.search)}`)
    if (!p) throw noPage()
    const elsewhere = p.elsewhere?.(at)
    if (elsewhere) return seeOther(elsewhere)
    // The pages of other kinds of account look like pages that do not exist.
    if (sender.actor && !isFor(p, sender.actor)) throw noPage()
    const { gate } = site.httpContext
    const data = await readAll(p.reads, gate, at, { part: request.headers.get(PART) })
    const always = sender.actor && !p.open ? await readAll(site.always, gate, at) : {}
    const frame = () => ({ ...render(p, data, at), at, always })
    return partOf(site, request, { at, data, always, frame }) ?? document(site, request, frame(), 200)
  } catch (thrown) {
    const error = refusalFrom(thrown)
    if (error instanceof ApiError && error.code === 'second_factor_required') return seeOther('/account/security')
    const refusal =
      error instanceof ApiError ? error : new ApiError('internal_error', 'Something went wrong on our side.')
    if (refusal !== error) log.error('a page broke', { requestId, path: p?.path ?? plainPath(url.pathname), error })
    const { status } = errors[refusal.code]
    const shown = site.errorPage({ status, message: refusal.message }, requestId, at)
    const response = document(site, request, { ...shown, page: undefined, at, always: {} }, status)
    const { retryAfterSeconds } = refusal.details
    if (retryAfterSeconds !== undefined) response.headers.set('Retry-After', String(retryAfterSeconds))
    return response
  }
}

type PartRequest = { at: At; data: object; always: object; frame(): Omit<Frame, 'nonce'> }
/** The live part that the request asks for; undefined where it asks for a page, or the page has no such part now. */
function partOf(site: Site, request: Request, { at, data, always, frame }: PartRequest): Response | undefined {
  const id = request.headers.get(PART)
  if (id === null) return undefined
  const etag = tagOf({ at, id, data, always, isRunning: site.isRunning(always), site: site.asset('panel.js') })
  if (request.headers.get('If-None-Match') === etag)
    return new Response(null, { status: 304, headers: { ETag: etag, 'Cache-Control': 'private, no-store' } })
  const part: { id: string; text?: string; beside?: string } = { id }
  const context = { at, asset: site.asset }
  const drawn = frame()
  rendered(inContext({ ...context, part }, drawn.body))
  if (part.text === undefined) return undefined
  const beside = rendered(inContext(context, site.beside({ ...drawn, nonce: '' })))
  return partResponse(part.text + (part.beside ?? '') + beside, etag, request.headers.get('Accept-Encoding'))
}

const seeOther = (path: string) => new Response(null, { status: 303, headers: { ...pageHeaders(), Location: path } })

function atFor(
  site: Site,
  request: IncomingRequest,
  params: Record<string, string>,
  sender: ReturnType<HttpContext['authenticate']> | undefined,
): At {
  const url = new URL(request.url)
  const actor = sender?.actor ?? visitor
  return {
    path: url.pathname,
    params,
    query: Object.fromEntries(url.searchParams),
    actor,
    csrf: sender?.browser ? csrfToken(sender.browser.csrf) : '',
    uiPreferences: sender?.browser?.uiPreferences,
    client: request.info,
    origin: site.httpContext.origin,
    now: site.clock(),
    brand: site.brand(actor.accountId),
    registry: site.registry,
    may: once((op: Operation) => !!sender?.actor && mayFor(actor)(op)),
    leads: once((href: string) => site.leads(href, actor)),
    isInNav: once((entry: NavEntry) => !!sender?.actor && site.isInNav(entry, actor)),
    insecure: site.insecure,
  }
}

/** Asks once for each value: a list asks the same of every row. */
function once<T>(ask: (value: T) => boolean): (value: T) => boolean {
  const answers = new Map<T, boolean>()
  return (value) => {
    let answer = answers.get(value)
    if (answer === undefined) answers.set(value, (answer = ask(value)))
    return answer
  }
}

function document(site: Site, request: Request, frame: Omit<Frame, 'nonce'>, status: number): Response {
  const nonce = randomBytes(16).toString('base64')
  const context = { at: frame.at, asset: site.asset }
  const text = `<!doctype html>${rendered(inContext(context, site.layout({ ...frame, nonce })))}`
  const headers = pageHeaders(nonce, frame.page?.madeStyles)
  return compressed(text, request.headers.get('Accept-Encoding'), { status, headers })
}

const scriptSource = (nonce: string) => (nonce ? `'nonce-${nonce}' 'strict-dynamic'` : "'none'")
/** Style sheets that a script makes carry the nonce; attributes cannot, and hold no address that is loaded. */
const madeStyleSource = (nonce: string) => [`style-src-elem 'self' 'nonce-${nonce}'`, "style-src-attr 'unsafe-inline'"]
const policy = (nonce: string, madeStyles: boolean) => [
  "default-src 'none'",
  `script-src ${scriptSource(nonce)}`,
  "style-src 'self'",
  ...(madeStyles ? madeStyleSource(nonce) : []),
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  `report-uri ${CSP_REPORT}`,
]

/** The headers of a page beside those of every response. */
export const pageHeaders = (nonce = '', madeStyles = false) => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policy(nonce, madeStyles).join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
})
