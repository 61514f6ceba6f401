// Answers that are asked for again and again and are the same until a row changes: a list's first page, its total.
import { type Db, isChanging, prepared } from './open.ts'

/** Where a kept answer has room for its JSON: whoever sends it writes it once for all who ask. */
const JSON_TEXT = Symbol('json')
type Kept = { readonly [JSON_TEXT]?: { text?: string } }

/** The answer as JSON; the text of a kept one is made once. */
export function jsonOf(answer: unknown): string {
  const room = typeof answer === 'object' && answer !== null ? (answer as Kept)[JSON_TEXT] : undefined
  if (!room) return JSON.stringify(answer)
  room.text ??= JSON.stringify(answer)
  return room.text
}

/** Rows that this connection, the only one that writes, has ever changed. */
const changes = prepared(({ $client }) => $client.prepare<{ n: number }, []>('SELECT total_changes() AS n'))

/**
 * Answers what `make` makes, and for the same key the same again until any row is changed; `most` answers are kept at a time. Whatever
 * an answer depends on besides rows – who asks, the query, what runs – belongs into the key, and nothing that depends on the time of
 * day may be kept. An object is frozen through and through, since all who ask are given the same one.
 */
export function keeping<T>(most: number): (db: Db, key: string, make: () => T) => T {
  const store = prepared(() => ({ at: -1, answers: new Map<string, T>() }))
  return (db, key, make) => {
    // What a transaction changes it may still take back.
    if (isChanging(db)) return make()
    const kept = store(db)
    const at = changes(db).get()!.n
    if (at !== kept.at || kept.answers.size >= most) kept.answers.clear()
    kept.at = at
    let answer = kept.answers.get(key)
    if (answer === undefined) {
      answer = make()
      if (typeof answer === 'object' && answer !== null) Object.defineProperty(answer, JSON_TEXT, { value: {} })
      frozen(answer)
      kept.answers.set(key, answer)
    }
    return answer
  }
}

function frozen<T>(it: T): T {
  if (typeof it !== 'object' || it === null) return it
  for (const part of Object.values(it)) frozen(part)
  return Object.freeze(it)
}

const counts = keeping<number>(1000)
/** Answers a query that names one number `n`, kept until anything changes. */
export const countOf = (db: Db, sql: string, values: readonly string[]): number =>
  counts(db, JSON.stringify([sql, values]), () => db.$client.query<{ n: number }, any[]>(sql).get(...values)!.n)
