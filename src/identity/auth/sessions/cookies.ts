// The cookies of sessions and of sign-ins under way. Only a random value is in a cookie; everything else is in the
// database.

/**
 * `__Host-` binds the cookie to this host and to HTTPS; browsers refuse the prefix on plain HTTP, which only a lab
 * uses.
 */
export const cookieName = (origin: string, name = 'panel') => (origin.startsWith('https:') ? `__Host-${name}` : name)

/** The Set-Cookie header of a cookie that scripts cannot read. `maxAgeSeconds` 0 deletes it. */
export const sessionCookie = (origin: string, value: string, maxAgeSeconds: number, name = 'panel'): string =>
  new Bun.Cookie(cookieName(origin, name), value, {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    maxAge: maxAgeSeconds,
    secure: origin.startsWith('https:'),
  }).serialize()

/** The value of one cookie in a Cookie header; the first one, where a name is there twice. */
export const cookieIn = (header: string, name: string): string | undefined =>
  new Bun.CookieMap(header).get(name) ?? undefined

/** The session's cookie of a request. */
export const cookieFrom = (request: Request, origin: string): string | undefined =>
  cookieIn(request.headers.get('Cookie') ?? '', cookieName(origin))
