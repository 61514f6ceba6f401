// The address behind the button. A page cannot write and a form may not lead to another site, so this is neither: it calls the
// operation as any visitor could, and sends the browser where the answer says.

import { ApiError } from '../../../kernel/api/errors.ts'
import type { HttpContext } from '../../../kernel/api/http.ts'
import { addressKey } from '../../../kernel/api/limits.ts'
import type { IncomingRequest } from '../../../kernel/api/response.ts'
import { safePath } from '../../../kernel/web/safe-path.ts'
import { pageHeaders } from '../../../kernel/web/serve-pages.ts'
import { beginProviderSignIn } from './oidc.ts'

export async function startAtProvider(httpContext: HttpContext, request: IncomingRequest): Promise<Response> {
  const query = new URL(request.url).searchParams
  const next = safePath(query.get('next') ?? undefined)
  const { requestId, from } = request.info
  const to = (path: string) => new Response(null, { status: 303, headers: { ...pageHeaders(), Location: path } })
  // A picture on a foreign page asks as its visitor, and must use up nothing of theirs.
  if (isPartOfAnotherSite(request))
    throw new ApiError('bad_origin', `This address is for the browser's own window. Open ${httpContext.origin}/login.`)
  try {
    httpContext.calls.take(addressKey(from))
    if (httpContext.restarting()) return to('/login?refused=restarting')
    const { body, cookies = [] } = await httpContext.gate(beginProviderSignIn, undefined, {
      body: { ...(next && { next }), ...(query.has('again') && { again: true }) },
      from,
      userAgent: request.headers.get('User-Agent') ?? '',
      cookies: request.headers.get('Cookie') ?? '',
      requestId,
    })
    const response = to(body.url)
    for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
    return response
  } catch (error) {
    if (error instanceof ApiError) return to(`/login?refused=${error.code}`)
    throw error
  }
}

/** Browsers say for what they ask; one that says nothing is taken at its word, as for all that only reads. */
function isPartOfAnotherSite({ headers }: Request): boolean {
  const [site, dest] = [headers.get('Sec-Fetch-Site'), headers.get('Sec-Fetch-Dest')]
  return site !== null && site !== 'same-origin' && site !== 'none' && dest !== 'document'
}
