// The address behind the sign-in button. It calls the operation as any visitor could and redirects the browser: pages
// only read, and the page's policy keeps forms from leading to another site.

import { ApiError } from '../../../kernel/api/errors.ts'
import type { HttpContext } from '../../../kernel/api/http.ts'
import { addressKey } from '../../../kernel/api/limits.ts'
import type { IncomingRequest } from '../../../kernel/api/response.ts'
import { safePath } from '../../../kernel/web/safe-path.ts'
import { pageHeaders } from '../../../kernel/web/site.ts'
import { beginProviderSignIn } from './oidc.ts'

export async function startAtProvider(httpContext: HttpContext, request: IncomingRequest): Promise<Response> {
  const query = new URL(request.url).searchParams
  const next = safePath(query.get('next') ?? undefined)
  const to = (path: string) => new Response(null, { status: 303, headers: { ...pageHeaders(), Location: path } })
  // An image on a foreign page loads as its visitor and must not use up their limit.
  if (isPartOfAnotherSite(request))
    throw new ApiError('bad_origin', `This address is for the browser's own window. Open ${httpContext.origin}/login.`)
  try {
    httpContext.calls.take(addressKey(request.info.from))
    if (httpContext.restarting()) return to('/login?refused=restarting')
    const { body, cookies = [] } = await httpContext.gate(beginProviderSignIn, undefined, {
      body: { ...(next && { next }), ...(query.has('again') && { again: true }) },
      client: request.info,
    })
    const response = to(body.url)
    for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
    return response
  } catch (error) {
    if (error instanceof ApiError) return to(`/login?refused=${error.code}`)
    throw error
  }
}

/** Browsers name the purpose of a request; without these headers it is allowed, as any read is. */
function isPartOfAnotherSite({ headers }: Request): boolean {
  const [site, dest] = [headers.get('Sec-Fetch-Site'), headers.get('Sec-Fetch-Dest')]
  return site !== null && site !== 'same-origin' && site !== 'none' && dest !== 'document'
}
