// Pages and parts, compressed for browsers that take it.

/** Smaller is not worth the work. */
const WORTH_COMPRESSING = 1_000
/** Level 5: 87 kB of a list become 10 kB in about a millisecond; level 9 saves little more and takes twice as long. */
const LEVEL = 5

/** A response with this text. `accepted`: the request's `Accept-Encoding`. */
export function compressed(text: string, accepted: string | null, init: { status?: number; headers: HeadersInit }) {
  const headers = new Headers(init.headers)
  headers.append('Vary', 'Accept-Encoding')
  const compress = text.length > WORTH_COMPRESSING && /\bgzip\b/.test(accepted ?? '')
  if (!compress) return new Response(text, { ...init, headers })
  headers.set('Content-Encoding', 'gzip')
  return new Response(Bun.gzipSync(Buffer.from(text), { level: LEVEL }), { ...init, headers })
}
