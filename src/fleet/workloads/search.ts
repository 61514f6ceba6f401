// The search for workloads. It reads a short text for each of them, which triggers keep (0079_search.sql): 60,000 take
// 10 ms a word, their columns with classes of letters took 490.
import type { Db } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { everyWord, isInGroups } from '../../kernel/search/text.ts'
import { addressesText, prefixFits, storedAddress } from '../../network/ip-pools/queries.ts'
import type { WorkloadKind } from './kind.ts'
import { fromWorkloads } from './queries.ts'

/**
 * A search among the workloads of a kind that an actor sees. `visible` and `also` are over `workloads w`; `also` finds
 * one by what only its kind or its list has, and may use its `id` and `owner_id` alone where `visible` is everything.
 */
export type WorkloadSearch = {
  kind: string
  visible: Where
  text: string
  also(word: string, isEverything: boolean): Where
}

const groups = 3
const NAMES = { first: 0, last: 0, groups }
const MAC = { first: 1, last: 1, groups }
const ADDRESSES = { first: 2, last: 2, groups }
const ALL = { first: 0, last: 2, groups }

/** Is the word in the search text, or the id? `w` has the id, `text` is the column with the text. */
function wordFits(word: string, text: string): Where {
  const digits = word.replace(/[:.-]/g, '')
  const mac = /^[0-9a-f]{6,12}$/i.test(digits) ? (digits.match(/../g) ?? []).join(':') : word
  const address = storedAddress(word) ?? word
  const prefix = prefixFits('w.id', word)
  const whole: Where = {
    where: `w.id = +?${prefix.values.length ? ` OR ${prefix.where}` : ''}`,
    values: [word, ...prefix.values],
  }
  const parts =
    mac === word && address === word
      ? [isInGroups(text, word, ALL)]
      : [isInGroups(text, word, NAMES), isInGroups(text, mac, MAC), isInGroups(text, address, ADDRESSES)]
  return {
    where: `${parts.map(({ where }) => where).join(' OR ')} OR ${whole.where}`,
    values: [...parts.flatMap(({ values }) => values), ...whole.values],
  }
}
const isEverything = ({ visible }: WorkloadSearch) => visible.where === '1'
/** Does every word of the search fit? */
const allFit = (search: WorkloadSearch, text: string): Where =>
  everyWord(search.text, (word) => {
    const [fits, more] = [wordFits(word, text), search.also(word, isEverything(search))]
    return { where: `(${fits.where} OR ${more.where})`, values: [...fits.values, ...more.values] }
  })

/** A search that finds no more than this many says them by their ids; one that finds more reads text by text. */
const MANY = 2000
/** The same for somebody who does not see everything: each text that is read costs more then. */
const MANY_OF_SOME = 10_000

/** The start of a FROM clause with `workloads w`, and the column whose order costs nothing; without it `w.id`. */
export type SearchedFrom = { from?: string; id?: string }
/** `countListed`: how many that are not terminated fit; undefined where it is not known cheaply. */
export type FoundWorkloads = Where & Required<SearchedFrom> & { countListed: (() => number) | undefined }

/** The workloads that every word of the text fits. */
export function foundWorkloads(tx: Db, search: WorkloadSearch): FoundWorkloads {
  const [everything, most] = isEverything(search) ? [true, MANY] : [false, MANY_OF_SOME]
  const found = keysFound(tx, search, most)
  if (found.length <= most)
    return {
      from: fromWorkloads,
      id: 'w.id',
      where: 'w.id IN (SELECT value FROM json_each(+?))',
      values: [JSON.stringify(found.map(({ id }) => id))],
      countListed: () => found.filter(({ listed }) => listed).length,
    }
  const fits = allFit(search, 'x.text')
  // In the order of the texts: a text for each row of the list takes six times as long.
  return {
    from: 'FROM workload_search x CROSS JOIN workloads w ON w.id = x.id',
    id: 'x.id',
    where: `x.kind = +? AND ${fits.where}`,
    values: [search.kind, ...fits.values],
    countListed: everything ? () => countListed(tx, search) : undefined,
  }
}

type Key = { id: string; listed: number }
/** In no order, and no more than one above `most`. */
function keysFound(tx: Db, search: WorkloadSearch, most: number): Key[] {
  const { kind, visible } = search
  const everything = isEverything(search)
  const fits = allFit(search, everything ? 'w.text' : 'x.text')
  const from = everything
    ? 'w.listed FROM workload_search w WHERE w.kind = +?'
    : `x.listed ${fromWorkloads} CROSS JOIN workload_search x ON x.kind = w.kind AND x.id = w.id
       WHERE w.kind = +? AND ${visible.where}`
  return tx.$client
    .query<Key, (string | number)[]>(`SELECT w.id, ${from} AND ${fits.where} LIMIT ${most + 1}`)
    .all(kind, ...(everything ? [] : visible.values), ...fits.values)
}

function countListed(tx: Db, search: WorkloadSearch): number {
  const fits = allFit(search, 'w.text')
  return tx.$client
    .query<{ n: number }, string[]>(
      `SELECT count(*) AS n FROM workload_search w WHERE w.kind = +? AND w.listed AND ${fits.where}`,
    )
    .get(search.kind, ...fits.values)!.n
}

type Found = { id: string; title: string; detail: string | null }
/** Workloads that are not terminated and that every word of the text fits, newest first. */
export function searchWorkloads(
  tx: Db,
  { kind }: WorkloadKind,
  { visible, text, also }: Omit<WorkloadSearch, 'kind'>,
  limit: number,
): Found[] {
  const fits = foundWorkloads(tx, { kind, visible, text, also })
  return tx.$client
    .query<Found, (string | number)[]>(
      `SELECT w.id, w.hostname AS title, ${addressesText('w.id')} AS detail ${fits.from}
       WHERE w.kind = +? AND ${visible.where} AND w.terminated_at IS NULL AND ${fits.where}
       ORDER BY ${fits.id} DESC LIMIT ?`,
    )
    .all(kind, ...visible.values, ...fits.values, limit)
}
