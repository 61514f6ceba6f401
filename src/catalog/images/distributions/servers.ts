// The controller reads checksums and headers of images from the servers of distributions. Each request passes the
// egress guard, also behind a redirect to a mirror, and ends at a size and a time.
import { second } from '../../../kernel/db/clock.ts'
import { egressAcross, type Policy, publicOnly, type RawResponse } from '../../../kernel/net/egress.ts'

/** Of one read with its redirects; adding an image makes two, one after the other. */
const TIMEOUT_MS = 10 * second
/** Distributions redirect to mirrors. */
const MOST_REDIRECTS = 3
const MOST_LIST_BYTES = 1_000_000

/** The first bytes of a file, and how many bytes it has. */
export type Beginning = { head: Buffer; totalBytes: number }

/** `absent`: its server says that there is no such file. */
export type Read = { bytes: Buffer } | { failure: 'absent' | 'unreachable' }

export type Distributions = {
  /** The small file behind a URL, such as a list or a signature. */
  read(url: string): Promise<Read>
  /**
   * Undefined when the file cannot be read, is at an address that `policy` does not allow (a public one, if not given),
   * or its server does not say how long it is.
   */
  beginning(url: string, bytes: number, policy?: Policy): Promise<Beginning | undefined>
}

type Request = { mostBytes: number; onlyBeginning?: boolean; headers?: Record<string, string> }
/** One request, with redirects. Throws `NoAnswer`. */
type Send = (url: URL, request: Request, policy: Policy) => Promise<RawResponse>

const guarded: Send = (url, request, policy) =>
  egressAcross(MOST_REDIRECTS, url, policy, {
    ...request,
    headers: { Accept: '*/*', ...request.headers },
    timeoutMs: TIMEOUT_MS,
  })

/**
 * `allowed`: CIDRs of mirrors that are not public. `send`: through the egress guard, unless a test gives another.
 */
export function distributionsOver(allowed: readonly string[], send: Send = guarded): Distributions {
  const usual = { ...publicOnly, allowed }
  return {
    async read(url) {
      const response = await send(new URL(url), { mostBytes: MOST_LIST_BYTES }, usual).catch(() => undefined)
      if (response?.status === 200) return { bytes: response.body }
      return { failure: response?.status === 404 || response?.status === 410 ? 'absent' : 'unreachable' }
    },
    async beginning(url, bytes, policy = usual) {
      const headers = { Range: `bytes=0-${bytes - 1}` }
      const request = { mostBytes: bytes, onlyBeginning: true, headers }
      const response = await send(new URL(url), request, policy).catch(() => undefined)
      if (response?.status !== 200 && response?.status !== 206) return undefined
      // A server that does not know ranges sends the whole: its length is that of the file, and the rest is not read.
      const total =
        response.status === 206
          ? /\/(\d+)$/.exec(response.headers['content-range'] ?? '')?.[1]
          : response.headers['content-length']
      const totalBytes = Number(total ?? Number.NaN)
      return Number.isSafeInteger(totalBytes) ? { head: response.body, totalBytes } : undefined
    },
  }
}
