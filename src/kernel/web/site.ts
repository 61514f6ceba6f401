// The site: what every page needs beside its own declaration, and the document around it with its headers.
import { randomBytes } from 'node:crypto'
import { type Actor, visitor } from '../api/actor.ts'
import type { HttpContext } from '../api/http.ts'
import type { Operation } from '../api/operation.ts'
import type { IncomingRequest } from '../api/response.ts'
import { csrfToken } from '../crypto/csrf-token.ts'
import type { Clock } from '../db/clock.ts'
import type { Registry } from '../registry.ts'
import type { Brand } from './brand.ts'
import { compressed } from './compressed.ts'
import { CSP_REPORT } from './csp-report.ts'
import { type Html, rendered } from './html.ts'
import type { NavEntry } from './navigation.ts'
import { type At, type Leads, mayFor, type Page, type Reads } from './page.ts'
import { inContext } from './page-context.ts'

/** `always` is what the frame of every page shows; nothing of it where nobody is signed in or the page is refused. */
export type Frame<A = any> = { title: string; body: Html; page: Page | undefined; at: At; nonce: string; always: A }
/** `isChange`: what was refused is no reading of a page. */
export type PageRefusal = { status: number; message: string; isChange: boolean }
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
  errorPage(refusal: PageRefusal, requestId: string, at: At): { title: string; body: Html }
  httpContext: HttpContext
  brand(accountId: string): Brand
  clock: Clock
  insecure: boolean
  leads: Leads
  isInNav(entry: NavEntry, actor: Actor): boolean
}

/** The place of a request, for the person who sends it. */
export function atFor(
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

/** The document of a page. */
export function document(site: Site, request: Request, frame: Omit<Frame, 'nonce'>, status: number): Response {
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

/** To another page of the site. */
export const seeOther = (path: string) =>
  new Response(null, { status: 303, headers: { ...pageHeaders(), Location: path } })
