// Live parts of pages over HTTP: only the part is sent, compressed, and nothing while it is as it was.
import type { Actor } from '../api/actor.ts'
import { rightsKey } from '../api/operation.ts'
import { compressed } from './compressed.ts'
import type { At } from './page.ts'

/** The request header that names the part. */
export const PART = 'X-Part'

/** Words such as "3 min ago" are drawn anew after a while; of running jobs also "for 12 s". */
const MINUTE_MS = 60_000
const WHILE_RUNNING_MS = 5_000

type Tagged = { at: At; id: string; data: unknown; always: unknown; isRunning: boolean; site: string }
/** The ETag of a part: a page is made of its reader, its address and its data. `site` changes with the program. */
export function tagOf({ at, id, data, always, isRunning, site }: Tagged): string {
  const { actor, path, query, uiPreferences, brand, now } = at
  const moment = Math.floor(now / (isRunning ? WHILE_RUNNING_MS : MINUTE_MS))
  const of = [site, id, moment, readerOf(actor), path, query, uiPreferences, brand, data, always]
  return `"${new Bun.CryptoHasher('sha256').update(JSON.stringify(of, withoutClock)).digest('base64url').slice(0, 22)}"`
}
/** The moment of the read is no change by itself. */
const withoutClock = (name: string, value: unknown) => (name === 'checkedAt' ? undefined : value)
const readerOf = (actor: Actor) => [actor.accountId, actor.name, actor.via, rightsKey(actor)]

/** The part alone. */
export function partResponse(text: string, etag: string, accepted: string | null): Response {
  return compressed(text, accepted, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      ETag: etag,
      Vary: 'Cookie',
      'Cache-Control': 'private, no-store',
    },
  })
}
