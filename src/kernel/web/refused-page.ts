// The page of a refusal: in words, with the next step and the request id.
import { ApiError } from '../api/errors.ts'
import type { ErrorPage, IncomingRequest } from '../api/response.ts'
import { type At, noPage } from './page.ts'
import { atFor, document, type Site } from './site.ts'

/** The page of this refusal, for the reader at this place. */
export function refusedPage(site: Site, { code, message }: ApiError, request: IncomingRequest, at: At): Response {
  const { requestId, errors } = request.info
  const { status } = errors[code]
  const shown = site.errorPage({ status, message, isChange: !isRead(request.method) }, requestId, at)
  return document(site, request, { ...shown, page: undefined, at, always: {} }, status)
}

const isRead = (method: string) => method === 'GET' || method === 'HEAD'

/** The pages of refusals outside of the pages themselves. */
export const errorPages =
  (site: Site): ErrorPage =>
  (error, request) =>
    refusedPage(site, forPerson(error, request), request, readerOf(site, request))

/** The frame of the page is that of its reader; where nobody is found, it is the one before signing in. */
function readerOf(site: Site, request: IncomingRequest): At {
  try {
    return atFor(site, request, {}, site.httpContext.authenticate(request, 'page'))
  } catch {
    return atFor(site, request, {}, undefined)
  }
}

/** A form that no script took goes to the address of its page, and browsers say nothing of paths and methods. */
function forPerson(error: ApiError, { method }: IncomingRequest): ApiError {
  if (error.code === 'not_found') return noPage()
  return error.code === 'method_not_allowed' && method === 'POST' ? needsScript(error.code) : error
}

export const needsScript = (code: 'method_not_allowed' | 'not_possible') =>
  new ApiError(code, 'This button needs JavaScript, which did not run.')
