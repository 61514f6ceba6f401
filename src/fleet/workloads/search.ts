// The search for workloads: the index of texts names few candidates for the rarest word, and the other words are looked
// for among those. What is exactly meant, an id or an address, is found by the index of that column.
import type { Db } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { docsOf, idsBeginningWith, idsWithParts, MANY, type Part, searchText } from '../../kernel/search/index.ts'
import { everyWord, folded, isInGroups, wordsOf } from '../../kernel/search/text.ts'
import { addressesText, prefixFits, storedAddress } from '../../network/ip-pools/queries.ts'
import type { WorkloadKind } from './kind.ts'
import { billingServiceFits, fromWorkloads } from './queries.ts'

/**
 * A search among the workloads of a kind that an actor sees. `visible` and `own` are over `workloads w`; `own` are
 * those whose billing identifiers the actor may read.
 */
export type WorkloadSearch = {
  kind: string
  visible: Where
  own: Where
  text: string
  owner: OwnerSearch
}
/** The accounts with a word, where they are few; where they are many, all are found once, or each row asks. */
export type Among = readonly string[] | 'found once' | 'asked each'
export type OwnerSearch = {
  /** The name of the owner of `workloads w`, as SQL. */
  name: string
  /** The accounts with the word in what `fits` looks into, or more of them; up to `most`. */
  ids(word: string, most: number): string[]
  /** Over `workloads w`: is the word in what the actor may read of the owner? `among`: those of `ids`, if few. */
  fits(word: string, among: Among): Where
}

const groups = 3
const NAMES = { first: 0, last: 0, groups }
const MAC = { first: 1, last: 1, groups }
const ADDRESSES = { first: 2, last: 2, groups }
const ALL = { first: 0, last: 2, groups }

/** The word as each group of the text has it. */
function partsOf(word: string): Part[] {
  const [mac, address] = [storedMac(word), storedAddress(word) ?? word]
  // Nearly every MAC address begins alike.
  const rare = mac && mac.length > OUI_LETTERS + 2 ? mac.slice(OUI_LETTERS) : undefined
  if ((mac === undefined || mac === word) && address === word) return [{ word, groups: ALL, ...(rare && { rare }) }]
  return [
    { word, groups: NAMES },
    { word: mac ?? word, groups: MAC, ...(rare && { rare }) },
    { word: address, groups: ADDRESSES },
  ]
}
const OUI_LETTERS = '52:54:00:'.length
/** Six or more digits of a MAC address in the spelling in which it is stored. */
function storedMac(word: string): string | undefined {
  const digits = word.replace(/[:.-]/g, '')
  return /^[0-9a-f]{6,12}$/i.test(digits) ? (digits.match(/../g) ?? []).join(':').toLowerCase() : undefined
}

/** The ids of workloads of any of these kinds whose names have every word of the text, up to `most` of each kind. */
export const idsNamed = (tx: Db, kinds: readonly string[], text: string, most: number): string[] =>
  kinds.flatMap((kind) =>
    idsWithParts(
      tx,
      kind,
      wordsOf(text).map((word) => ({ word, groups: NAMES })),
      most,
    ),
  )

/** Is it the id, an address in a prefix of it, or an identifier of billing? Over `workloads w`. */
function isExactly({ own }: WorkloadSearch, word: string): Where {
  const [prefix, called] = [prefixFits('w.id', word), billingServiceFits(word)]
  return {
    where: `(w.id = +? OR ${prefix.where} OR (${own.where} AND ${called.where}))`,
    values: [word, ...prefix.values, ...own.values, ...called.values],
  }
}
function exactIds(tx: Db, word: string): string[] {
  const [prefix, called] = [prefixFits('w.id', word), billingServiceFits(word)]
  return tx.$client
    .query<{ id: string }, string[]>(
      `SELECT w.id ${fromWorkloads} WHERE w.id = +? UNION SELECT w.id ${fromWorkloads} WHERE ${prefix.where}
       UNION SELECT w.id ${fromWorkloads} WHERE ${called.where}`,
    )
    .all(word, ...prefix.values, ...called.values)
    .map(({ id }) => id)
}

/** A word of a search. `ids`: all that it can fit, and perhaps others; undefined: they are many. */
type Wanted = { word: string; owners: string[] | undefined; ids: Set<string> | undefined }
function wantedBy(tx: Db, { kind, owner }: WorkloadSearch, word: string): Wanted {
  const found = owner.ids(word, MANY + 1)
  const owners = found.length > MANY ? undefined : found
  const ids = new Set(exactIds(tx, word))
  const add = (more: readonly string[]) => more.every((id) => ids.size <= MANY && ids.add(id))
  const areFew =
    owners !== undefined &&
    add(idsOwned(tx, kind, owners)) &&
    partsOf(word).every((part) => add(idsWithParts(tx, kind, [part], MANY + 1)))
  return { word, owners, ids: areFew && ids.size <= MANY ? ids : undefined }
}
/** Up to one more than `MANY`. */
const idsOwned = (tx: Db, kind: string, owners: readonly string[]): string[] =>
  owners.length
    ? tx.$client
        .query<{ id: string }, (string | number)[]>(
          `SELECT w.id FROM json_each(?) e CROSS JOIN workloads w ON w.owner_id = e.value
           WHERE w.kind = ? LIMIT ${MANY + 1}`,
        )
        .all(JSON.stringify(owners), kind)
        .map(({ id }) => id)
    : []

/** Does every word of the search fit? `text` is the column with the text of `w`. */
const allFit = (
  search: WorkloadSearch,
  words: readonly Wanted[],
  text: string,
  many: 'found once' | 'asked each' = 'asked each',
): Where =>
  everyWord(search.text, (word) => {
    const each = [
      ...partsOf(word).map((part) => isInGroups(text, part.word, part.groups)),
      search.owner.fits(word, words.find((one) => one.word === word)?.owners ?? many),
      isExactly(search, word),
    ]
    return {
      where: `(${each.map(({ where }) => where).join(' OR ')})`,
      values: each.flatMap(({ values }) => values),
    }
  })

/** The start of a FROM clause with `workloads w`, and the column whose order costs nothing; without it `w.id`. */
export type SearchedFrom = { from?: string; id?: string }
/**
 * `countListed`: how many that are not terminated fit; undefined where it is not known cheaply. `ids`: all of them,
 * where they are few.
 */
export type FoundWorkloads = Where &
  Required<SearchedFrom> & { countListed: (() => number) | undefined; ids: string[] | undefined }

/** The workloads that every word of the text fits. */
export function foundWorkloads(tx: Db, search: WorkloadSearch): FoundWorkloads {
  const { kind, visible } = search
  const isEverything = visible.where === '1'
  const words = wordsOf(search.text).map((word) => wantedBy(tx, search, word))
  const found = keysFound(tx, search, words)
  if (found.length <= MANY) {
    const ids = found.map(({ id }) => id)
    return {
      from: fromWorkloads,
      id: 'w.id',
      where: 'w.id IN (SELECT value FROM json_each(+?))',
      values: [JSON.stringify(ids)],
      countListed: () => found.filter(({ listed }) => listed).length,
      ids,
    }
  }
  const fits = allFit(search, words, searchText.column('x', 'text'))
  return {
    // In the order of the texts: a text for each row of the list takes six times as long.
    from: `${searchText.from('x')} CROSS JOIN workloads w ON w.id = x.id`,
    id: 'x.id',
    where: `x.kind = +? AND ${fits.where}`,
    values: [kind, ...fits.values],
    countListed: isEverything ? () => countListed(tx, search, words) : undefined,
    ids: undefined,
  }
}

type Key = { id: string; listed: number }
/** In no order, and no more than one above `MANY`. */
function keysFound(tx: Db, search: WorkloadSearch, words: readonly Wanted[]): Key[] {
  const { kind, visible } = search
  const [fewest] = words.flatMap(({ ids }) => (ids ? [ids] : [])).toSorted((a, b) => a.size - b.size)
  const ofText = `CROSS ${searchText.join('x', 'w.id')} AND x.kind = w.kind`
  const fits = allFit(search, words, 'x.text')
  const [from, values] = fewest
    ? [`FROM json_each(?) e CROSS JOIN workloads w ON w.id = e.value ${ofText}`, [JSON.stringify([...fewest])]]
    : visible.where === '1'
      ? [`${searchText.from('x')} CROSS JOIN workloads w ON w.id = x.id`, []]
      : [`${fromWorkloads} ${ofText}`, []]
  return tx.$client
    .query<Key, (string | number)[]>(
      `SELECT w.id, x.listed ${from} WHERE ${fewest || visible.where !== '1' ? 'w' : 'x'}.kind = ? AND ${visible.where}
         AND ${fits.where} LIMIT ${MANY + 1}`,
    )
    .all(...values, kind, ...visible.values, ...fits.values)
}

function countListed(tx: Db, search: WorkloadSearch, words: readonly Wanted[]): number {
  const [fits, docs] = [allFit(search, words, 'w.text', 'found once'), docsOf('w.doc', search.kind)]
  return tx.$client
    .query<{ n: number }, (string | number)[]>(
      `SELECT count(*) AS n ${searchText.from('w')} WHERE ${docs.where} AND w.listed AND ${fits.where}`,
    )
    .get(...docs.values, ...fits.values)!.n
}

type Found = {
  id: string
  title: string
  addresses: string | null
  owner: string
  exact: number
  terminatedAt: number | null
}

/** Values of a workload's text that the whole text may be, where it is one thing and not words. */
const valuesOf = (text: string): string[] => [
  ...new Set([folded(text.trim()), storedMac(text.trim()), storedAddress(text.trim())].flatMap((v) => v || [])),
]

/**
 * Workloads that every word of the text fits: first those that the whole text names, by id, address, MAC address or
 * name; then those that begin with it; the newest first. `ended`: terminated ones too, behind the others.
 */
export function searchWorkloads(
  tx: Db,
  { kind }: WorkloadKind,
  search: Omit<WorkloadSearch, 'kind'>,
  { most, ended }: { most: number; ended: boolean },
): Found[] {
  const { visible, text } = search
  const found = foundWorkloads(tx, { ...search, kind })
  const [whole, values] = [exactIds(tx, text.trim()), valuesOf(text)]
  const rows = (ids: readonly string[], limit: number) => {
    const isValue = values.map(() => `instr(${lines}, char(10) || ? || char(10)) > 0`).join(' OR ')
    return tx.$client
      .query<Found, (string | number)[]>(
        `SELECT w.id, w.hostname AS title, ${addressesText('w.id')} AS addresses,
           ${search.owner.name} AS owner, w.terminated_at AS terminatedAt,
           (w.id IN (SELECT value FROM json_each(?)) OR ${isValue}) AS exact
         FROM json_each(?) e CROSS JOIN workloads w ON w.id = e.value CROSS ${searchText.join('x', 'w.id')}
           AND x.kind = w.kind
         WHERE w.kind = ? AND ${visible.where} AND (? OR w.terminated_at IS NULL)
         ORDER BY exact DESC, w.terminated_at IS NOT NULL, substr(x.text, 1, ?) <> ?, w.id DESC LIMIT ?`,
      )
      .all(
        ...[JSON.stringify(whole), ...values, JSON.stringify(ids), kind, ...visible.values, Number(ended)],
        ...[values[0]?.length ?? 0, values[0] ?? '', limit],
      )
  }
  if (found.ids) return rows(found.ids, most)
  const named = rows([...whole, ...idsBeginningWith(tx, kind, values[0] ?? '', most)], most)
  const newest = tx.$client
    .query<{ id: string }, (string | number)[]>(
      `SELECT w.id ${found.from}
       WHERE w.kind = +? AND ${visible.where} AND w.terminated_at IS NULL AND ${found.where}
       ORDER BY ${found.id} DESC LIMIT ?`,
    )
    .all(kind, ...visible.values, ...found.values, most)
    .map(({ id }) => id)
  const others = newest.filter((id) => !named.some((row) => row.id === id))
  return [...named, ...rows(others, most)].slice(0, most)
}
const lines = 'char(10) || replace(x.text, char(13), char(10)) || char(10)'
