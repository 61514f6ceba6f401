// Pages over HTTP: who is it, render, wrap, and the headers that every page has.
import { randomBytes } from 'node:crypto'
import type { Elysia } from 'elysia'
import { visitor } from '../api/actor.ts'
import { Refusal } from '../api/errors.ts'
import type { Door } from '../api/http.ts'
import { addressKey } from '../api/limits.ts'
import type { Operation } from '../api/operation.ts'
import type { Clock } from '../db/clock.ts'
import { log } from '../log.ts'
import type { Brand } from './brand.ts'
import { CSP_REPORT } from './csp-report.ts'
import type { Html } from './html.ts'
import { onlyLeading } from './links.ts'
import { type At, leadingTo, mayFor, noPage, type Page, type Reads, readAll, render } from './page.ts'

/** `always` is what the frame of every page shows; nothing of it where nobody is signed in or the page is refused. */
export type Frame<A = any> = { title: string; body: Html; page: Page | undefined; at: At; nonce: string; always: A }
export type Site = {
  pages: readonly Page[]
  /** What the document around every page reads. */
  always: Reads
  /** The document around a page's body. */
  layout(frame: Frame): Html
  /** What a refusal looks like as a page. */
  errorBody(refusal: { status: number; message: string }, requestId: string, at: At): Html
  door: Door
  brand(accountId: string): Brand
  clock: Clock
  insecure: boolean
  leads: ReturnType<typeof leadingTo>
}

export function mountPages(app: Elysia, parts: Omit<Site, 'leads'>) {
  const site = { ...parts, leads: leadingTo(parts.pages) }
  for (const p of site.pages) app.get(p.path.replace(/\{(\w+)\}/g, ':$1'), ({ request, params }: any) => answer(site, p, request, params))
  app.get('*', ({ request }: any) => answer(site, undefined, request, {}))
}

async function answer(site: Site, p: Page | undefined, request: Request, params: Record<string, string>): Promise<Response> {
  const requestId = Bun.randomUUIDv7()
  const url = new URL(request.url)
  const from = site.door.from(request)
  let at = atFor(site, request, params, undefined)
  try {
    const sender = site.door.who(new Request(request.url, { headers: withoutToken(request) }), from)
    site.door.calls.take(sender.actor ? sender.limitKey : addressKey(from))
    at = atFor(site, request, params, sender)
    if (!sender.actor && !p?.open) return seeOther(requestId, `/login?next=${encodeURIComponent(url.pathname + url.search)}`)
    if (!p) throw noPage()
    const elsewhere = p.elsewhere?.(at)
    if (elsewhere) return seeOther(requestId, elsewhere)
    const { title, body } = await render(p, site.door.gate, at)
    const always = sender.actor && !p.open ? await readAll(site.always, site.door.gate, at) : {}
    return document(site, { title, body: onlyLeading(body, at.leads), page: p, at, always }, 200, requestId)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'second_factor_required') return seeOther(requestId, '/account/security')
    const refusal = error instanceof Refusal ? error : new Refusal('internal_error', 'Something went wrong on our side.')
    // The page's path and not the address: a link from a mail has its token there.
    if (refusal !== error) log.error('a page broke', { requestId, path: p?.path ?? url.pathname, error })
    const response = document(
      site,
      { title: titles[refusal.status] ?? 'Error', body: site.errorBody(refusal, requestId, at), page: undefined, at, always: {} },
      refusal.status,
      requestId,
    )
    const { retryAfterSeconds } = refusal.details
    if (retryAfterSeconds !== undefined) response.headers.set('Retry-After', String(retryAfterSeconds))
    return response
  }
}

const seeOther = (requestId: string, path: string) =>
  new Response(null, { status: 303, headers: { ...pageHeaders(), 'X-Request-Id': requestId, Location: path } })

const titles: Record<number, string> = {
  403: 'Not allowed',
  404: 'Not found',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Restarting',
}

/** A page is for a person: a token in a header does not open it. */
const withoutToken = (request: Request) => {
  const headers = new Headers(request.headers)
  headers.delete('Authorization')
  return headers
}

function atFor(site: Site, request: Request, params: Record<string, string>, sender: ReturnType<Door['who']> | undefined): At {
  const url = new URL(request.url)
  const actor = sender?.actor ?? visitor
  return {
    path: url.pathname,
    params,
    query: Object.fromEntries(url.searchParams),
    actor,
    csrf: sender?.browser?.csrf ?? '',
    looks: sender?.browser?.looks,
    cookies: request.headers.get('Cookie') ?? '',
    origin: site.door.origin,
    now: site.clock(),
    brand: site.brand(actor.accountId),
    may: (op: Operation) => !!sender?.actor && mayFor(actor)(op),
    leads: (href) => site.leads(href, actor),
    insecure: site.insecure,
  }
}

function document(site: Site, frame: Omit<Frame, 'nonce'>, status: number, requestId: string): Response {
  const nonce = randomBytes(16).toString('base64')
  return new Response('<!doctype html>' + site.layout({ ...frame, nonce }).text, {
    status,
    headers: { ...pageHeaders(nonce), 'X-Request-Id': requestId },
  })
}

/** HSTS is ignored by browsers on plain HTTP, so it can always stand there. */
export const pageHeaders = (nonce = '') => ({
  'Strict-Transport-Security': 'max-age=31536000',
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': `default-src 'none'; script-src ${nonce ? `'nonce-${nonce}' 'strict-dynamic'` : "'none'"}; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; report-uri ${CSP_REPORT}`,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
})
