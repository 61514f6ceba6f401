// Browsers tell here what our policy kept a page from loading: the first sign of an injection, or of a mistake of ours.

import { textOf } from '../api/http.ts'
import { addressKey, Limit } from '../api/limits.ts'
import type { IncomingRequest } from '../api/response.ts'
import { type Clock, minute } from '../db/clock.ts'
import { log, plainPath } from '../log.ts'

export const CSP_REPORT = '/csp-report'
/** A report of ours is under 2 kB. */
const MOST_BYTES = 16_000
/** From one address, and from all of them: reports are said by anybody, and the journal must not be theirs to fill. */
const PER_ADDRESS = 10
const PER_MINUTE = 60

/** An address as it may stand in the journal, with its site: links from mails have their secret in the query or in the path. */
const plain = (address: unknown) =>
  typeof address === 'string'
    ? (SITE.exec(address)?.[0] ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, 100) + plainPath(address)
    : undefined
const SITE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

const word = (text: unknown) => (typeof text === 'string' ? /^[a-z-]{1,40}/.exec(text)?.[0] : undefined)

/** Answers 204 to whatever was sent, so that nothing can be learned by it; logs what can be read, so often and no more. */
export function cspReports(clock: Clock) {
  const perAddress = new Limit(PER_ADDRESS, clock)
  let seen = { minute: 0, n: 0 }
  return async (request: IncomingRequest): Promise<Response> => {
    try {
      perAddress.take(addressKey(request.info.from))
      const now = Math.floor(clock() / minute)
      seen = seen.minute === now ? { minute: now, n: seen.n + 1 } : { minute: now, n: 1 }
      if (seen.n <= PER_MINUTE) {
        const report = JSON.parse(await textOf(request, MOST_BYTES))?.['csp-report']
        if (typeof report === 'object' && report !== null)
          log.warning('a browser reports that the content security policy was violated', {
            page: plain(report['document-uri']),
            directive: word(report['effective-directive'] ?? report['violated-directive']),
            blocked: plain(report['blocked-uri']),
          })
      }
    } catch {
      // too many, too large, or no report: there is nobody to tell
    }
    return new Response(null, { status: 204 })
  }
}
