// Answers of a panel with one thing changed at random, from a seed, so that a failure can be repeated.
import { isIP } from 'node:net'
import { isSourceFailure } from '../../../src/imports/sources/failure.ts'
import { seeded } from '../../support/random/seeded.ts'
import type { Panel, PanelAnswer } from './panel.ts'

const junk: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, 1e308, -0, 2 ** 53, [], {}, [[]], [null], { '0': {} }, [{}], { id: {} }],
  ...['', ' ', '0', '1', '-1', '1e400', 'NaN', 'x', 'null', '9'.repeat(30), 'a'.repeat(20_000), '\u0000', '\ud800'],
  ...['::1', '127.0.0.1', 'fe80::1', '0x7f.1', '2001:db8::/129', '::/0', '../../etc', '?a=b&c', '<html>', '\u202ex'],
  { __proto__: null, toString: 1, constructor: { prototype: 1 } },
  JSON.parse('{"__proto__":{"id":1},"length":4294967295}'),
]

type Holder = Record<string, unknown> | unknown[]
type Place = { holder: Holder; key: string }

function placesIn(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found
  for (const key of Object.keys(value)) {
    found.push({ holder: value as Holder, key })
    placesIn((value as Record<string, unknown>)[key], found)
  }
  return found
}

/** One place of the answer is given another value, left out, or repeated; or a byte of its text is another. */
export function mutated(answer: PanelAnswer, random: () => number): PanelAnswer {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const at = Math.floor(random() * answer.body.length)
  const way = random()
  if (way < 0.08) return { ...answer, body: answer.body.slice(0, at) }
  if (way < 0.16) {
    const byte = String.fromCharCode(Math.floor(random() * 128))
    return { ...answer, body: answer.body.slice(0, at) + byte + answer.body.slice(at + 1) }
  }
  if (way < 0.2) return { ...answer, body: answer.body.slice(at) }
  if (way < 0.24)
    return { ...answer, status: pick([200, 204, 206, 301, 400, 401, 403, 404, 418, 422, 429, 500, 503, 999]) }
  const body = JSON.parse(answer.body)
  const places = placesIn(body)
  const { holder, key } = pick(places)
  const holding = holder as Record<string, unknown>
  if (way < 0.34)
    if (Array.isArray(holder)) holder.splice(Number(key), 1)
    else delete holding[key]
  else if (way < 0.4 && Array.isArray(holder)) holder.push(holder[Number(key)])
  else holding[key] = pick(junk)
  return { ...answer, body: JSON.stringify(body) }
}

/** The first fault of a record: nothing may be longer, larger or stranger than a database accepts. */
export function faultOf(record: unknown, path = ''): string | undefined {
  if (typeof record === 'string') {
    if (record.length > 1000) return `${path} is too long`
    if (!record.isWellFormed() || /[\p{Cc}\u202e]/u.test(record)) return `${path} has characters that nobody can read`
    if (/\.address$|\.first$|\.last$|\.gateway$/.test(path) && !path.startsWith('hypervisors') && !isIP(record))
      return `${path} is no address: ${record}`
    return undefined
  }
  if (typeof record === 'number')
    return Number.isFinite(record) && record >= 0 && record <= Number.MAX_SAFE_INTEGER
      ? undefined
      : `${path}: ${record}`
  if (record === undefined) return `${path} is undefined`
  if (typeof record !== 'object' || record === null) return undefined
  for (const [key, value] of Object.entries(record)) {
    const fault = faultOf(value, Array.isArray(record) ? path : `${path}.${key}`)
    if (fault) return fault
  }
  return undefined
}

/** `whole`: the number of its records; null where one reading cannot tell whether some are missing. */
export type FuzzedList = { name: string; whole: number | null; read: () => Promise<readonly unknown[]> }

/**
 * Reads each list in turn, `cases` times in all, with one answer changed: `isOnce`, or each time that it is given. A
 * list is whole, or its reading ends with a failure of the closed list; anything else throws.
 */
export async function fuzz(panel: Panel, lists: readonly FuzzedList[], cases: number, isOnce: boolean) {
  const outcomes = new Map<string, number>()
  let mostRequests = 0
  for (let seed = 1; seed <= cases; seed++) {
    const random = seeded(seed)
    const list = lists[seed % lists.length]!
    const which = Math.floor(random() * 3)
    let n = 0
    let changed: PanelAnswer | undefined
    panel.requests.length = 0
    panel.fault = (_, answer) => {
      const given = answer()
      if (n++ !== which) return !isOnce && changed && n > which ? mutated(given, seeded(seed)) : given
      changed = mutated(given, random)
      return changed
    }
    const outcome = await list.read().then(
      (records) => {
        const fault = faultOf(records, list.name)
        if (fault) throw new Error(`case ${seed}: ${fault}`)
        if (list.whole !== null && records.length !== list.whole)
          throw new Error(`case ${seed}: ${list.name} has ${records.length} records`)
        return 'whole'
      },
      (error) => {
        if (!isSourceFailure(error)) throw new Error(`case ${seed}: ${list.name}`, { cause: error })
        return error.code
      },
    )
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    mostRequests = Math.max(mostRequests, panel.requests.length)
  }
  return { outcomes, mostRequests }
}
