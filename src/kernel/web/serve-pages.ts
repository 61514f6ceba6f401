// Pages over HTTP: who is it, read, render.
import { ApiError } from '../api/errors.ts'
import type { Routes } from '../api/http.ts'
import { addressKey } from '../api/limits.ts'
import { type IncomingRequest, refusalFrom } from '../api/response.ts'
import { log, plainPath } from '../log.ts'
import { rendered } from './html.ts'
import { takeForm } from './native-form.ts'
import { type At, isFor, noPage, type Page, readAll, render } from './page.ts'
import { inContext } from './page-context.ts'
import { PART, partResponse, tagOf } from './part.ts'
import { refusedPage } from './refused-page.ts'
import { atFor, document, type Frame, type Site, seeOther } from './site.ts'

export function addPages(routes: Routes, site: Site) {
  for (const p of site.pages) {
    const path = p.path.replace(/\{(\w+)\}/g, ':$1')
    for (const method of ['GET', 'HEAD'] as const)
      routes.add(method, path, (request, params) => answer(site, p, request, params))
    const { takes } = p
    if (takes) routes.add('POST', path, (request, params) => takeForm(site, { ...p, takes }, request, params))
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
  const { requestId, from } = request.info
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
    const response = refusedPage(site, refusal, request, at)
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
