// The path as the client wrote it. The server parses it as browsers parse addresses: a backslash becomes a slash and
// `..` goes up, so a request could reach a route that a proxy before us did not see. Its router sees the path as it
// came.
import type { Server } from 'bun'

/** More segments than any path has that is answered. */
const MOST_SEGMENTS = 12

type Handle<S, A> = (request: Request, server: S, isCanonical: boolean) => A

/**
 * The options of `Bun.serve` for this handler. `isCanonical` is false where the path of `request.url` has other
 * segments than the one that was sent.
 */
export function withRawPath<A, S = Server<unknown>>(handle: Handle<S, A>) {
  const routes: Record<string, (request: Request, server: S) => A> = {}
  for (let n = 1; n <= MOST_SEGMENTS; n++)
    routes[Array.from({ length: n }, (_, i) => `/:s${i}`).join('')] = (request, server) => {
      const { url } = withHost(request)
      return handle(request, server, segmentsOf(url) === n)
    }
  return {
    routes,
    // Here: the root, a slash at the end, an empty segment, or a path that is longer than any route.
    fetch: (request: Request, server: S): A => {
      const segments = segmentsOf(withHost(request).url)
      return handle(request, server, segments === 0 || segments > MOST_SEGMENTS)
    },
  }
}

/** HTTP/1.0 needs no Host header, and health checks of load balancers speak it. The URL is a path alone then. */
const withHost = (request: Request): Request =>
  request.headers.get('Host') === null && /^\/(?!\/)/.test(request.url)
    ? Object.defineProperty(request, 'url', { value: `http://localhost${request.url}` })
    : request

const SLASH = 47

/** Where the path begins in an absolute address. */
export const pathStart = (url: string): number => url.indexOf('/', url.indexOf('//') + 2)

/**
 * Counts the segments of an address's path. 0 for the root and for a path that ends in a slash, NaN for one with an
 * empty segment.
 */
function segmentsOf(url: string): number {
  const query = url.indexOf('?')
  const end = query < 0 ? url.length : query
  let count = 0
  for (let at = pathStart(url); at >= 0 && at < end; at = url.indexOf('/', at + 1)) {
    if (at + 1 >= end) return 0
    if (url.charCodeAt(at + 1) === SLASH) return Number.NaN
    count++
  }
  return count
}
