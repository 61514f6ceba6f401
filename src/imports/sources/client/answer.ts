// One answer of a panel, from bytes to an object that has the expected field. An answer that is no such object is a
// failure of its own kind: a sign-in page is never taken for an empty list.
import { excessOf } from '../../../kernel/modest-json.ts'
import { SourceFailure } from '../failure.ts'
import type { RawAnswer } from '../send.ts'
import { field, isCollection, isObject, type JsonObject } from '../values/scalars.ts'
import type { AllowedRead } from './allowed-reads.ts'

/** The ways in which panels differ when they refuse. `read`: what was asked for. */
export type Refusals = {
  signIn: () => SourceFailure
  redirect: () => SourceFailure
  html: () => SourceFailure
  /** A page instead of data, with a status that refuses. */
  htmlWithStatus: () => SourceFailure
  /** Looks for a refusal inside an answer with a status of success. */
  inside?: (answer: JsonObject, read: AllowedRead) => SourceFailure | undefined
}

export const MOST_BYTES = 16 * 1024 * 1024
export const MOST_NESTED = 24
const MOST_VALUES = 600_000

/** The answer, checked. Throws `SourceFailure`. */
export function checkedAnswer(raw: RawAnswer, read: AllowedRead, refusals: Refusals): JsonObject {
  const { status } = raw
  if (status >= 300 && status < 400) throw refusals.redirect()
  if (status === 401) throw refusals.signIn()
  if (status === 408 || status === 409 || status === 423 || status >= 500)
    throw new SourceFailure('panel_error', String(status))
  if (status === 429) throw new SourceFailure('rate_limited')
  const content = raw.body.toString('utf8').replace(/^\ufeff/, '')
  const isHtml = /html/i.test(String(raw.headers['content-type'] ?? '')) || /^\s*</.test(content.slice(0, 1000))
  if (status === 403) throw isHtml ? refusals.htmlWithStatus() : new SourceFailure('missing_rights', read.things)
  if (status === 404) throw isHtml ? refusals.htmlWithStatus() : new SourceFailure('not_found', read.things)
  if (status < 200 || status >= 400) throw new SourceFailure('refused', read.things)
  if (isHtml) throw refusals.html()
  const answer = parsed(content)
  const refusal = refusals.inside?.(answer, read)
  if (refusal) throw refusal
  if (!read.keys.some((key) => Object.hasOwn(answer, key) && isCollection(field(answer, key))))
    throw new SourceFailure('key_missing', read.things)
  return answer
}

function parsed(content: string): JsonObject {
  const excess = excessOf(content, MOST_NESTED, MOST_VALUES)
  if (excess) throw new SourceFailure(excess === 'depth' ? 'too_deep' : 'too_large')
  let answer: unknown
  try {
    answer = JSON.parse(content)
  } catch {
    // An object that does not end was cut; anything else was never one.
    const isCut = /^\s*\{/.test(content.slice(0, 1000)) && !/\}\s*$/.test(content.slice(-1000))
    throw new SourceFailure(isCut ? 'truncated' : 'not_json')
  }
  if (!isObject(answer)) throw new SourceFailure('not_json')
  return answer
}
