// Browsers tell here what our policy kept a page from loading: the first sign of an injection, or of a mistake of ours.

import { addressKey, Limit } from '../api/limits.ts'
import type { IncomingRequest } from '../api/response.ts'
import { type Clock, minute } from '../db/clock.ts'
import { log, plainPath } from '../log.ts'
import { textOf } from '../net/request-body.ts'

export const CSP_REPORT = '/csp-report'
/** A report of ours is under 2 kB. */
const MOST_BYTES = 16_000
/** Reports a minute from one address, and from all: anybody can send them, and they must not fill the journal. */
const PER_ADDRESS = 10
const PER_MINUTE = 60

/**
 * An address for the journal, with its site, without the secrets that links in mails have in the query or in the path.
 */
const plain = (address: unknown) =>
  typeof address === 'string'
    ? (SITE.exec(address)?.[0] ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, 100) + plainPath(address)
    : undefined
const SITE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

const word = (text: unknown) => (typeof text === 'string' ? /^[a-z-]{1,40}/.exec(text)?.[0] : undefined)

/** Answers 204 to every request, so that the answer tells nothing; logs valid reports within the limits above. */
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
