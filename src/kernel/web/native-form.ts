// The form of a page, sent by a browser whose script is off or has not loaded yet. It calls the operation that the
// script would call, through the same gate: limits, audit log and lock-out are the same.
import { ApiError, type FieldError } from '../api/errors.ts'
import { CLEARS_SITE_DATA, formFrom } from '../api/http.ts'
import { type IncomingRequest, refusalFrom } from '../api/response.ts'
import { type NativeForm, type Page, readAll, render } from './page.ts'
import { needsScript } from './refused-page.ts'
import { atFor, document, type Site, seeOther } from './site.ts'

/**
 * Calls the operation for the sender and leads on; where it is refused, the page comes again with the reason. Throws
 * what is refused before the form is read, and what is no form of this operation.
 */
export async function takeForm(
  site: Site,
  p: Page & { takes: NativeForm },
  request: IncomingRequest,
  params: Record<string, string>,
): Promise<Response> {
  const { httpContext } = site
  const { op, keeps, leadsTo, signedIn } = p.takes
  const body = await formFrom(httpContext, op, request)
  // Another form of the page.
  const fields = Object.keys(op.body?.properties ?? {})
  if (fields.length && !fields.some((name) => name in body)) throw needsScript('not_possible')
  const sender = signedIn && httpContext.authenticate(request, 'page')
  if (sender && !sender.actor) return seeOther('/login')
  const at = atFor(site, request, params, sender)
  try {
    const { body: response, cookies = [] } = await httpContext.gate(op, sender?.actor, { body, client: request.info })
    const answer = seeOther(leadsTo(response, at))
    if (op.clearsSiteData) answer.headers.set('Clear-Site-Data', CLEARS_SITE_DATA)
    for (const cookie of cookies) answer.headers.append('Set-Cookie', cookie)
    return answer
  } catch (thrown) {
    const error = refusalFrom(thrown)
    if (!(error instanceof ApiError)) throw error
    const { retryAfterSeconds, fields = [] } = error.details as { retryAfterSeconds?: number; fields?: FieldError[] }
    const kept = Object.fromEntries(keeps.flatMap((name) => (name in body ? [[name, body[name]!]] : [])))
    const again = { ...at, refusedForm: { message: error.message, fields, kept } }
    const data = await readAll(p.reads, httpContext.gate, again)
    const { status } = request.info.errors[error.code]
    const response = document(site, request, { ...render(p, data, again), at: again, always: {} }, status)
    if (retryAfterSeconds !== undefined) response.headers.set('Retry-After', String(retryAfterSeconds))
    return response
  }
}
