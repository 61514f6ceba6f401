// The index of searched texts (0204_search_index.sql) knows every three letters in a row. A text that has those of a
// word need not have the word itself: it is read.
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/open.ts'
import { reference } from '../db/reference.ts'
import type { Where } from '../db/rows.ts'
import { searchTexts } from './tables.ts'
import { type Groups, isInGroups, trigramsOf, wordsOf } from './text.ts'

/** The text of a thing, for the statements of other features; joined by the id of the thing. */
export const searchText = reference(searchTexts, ['kind', 'ownerId', 'listed', 'text'])

/** A search that finds no more than this many says them by their ids; one that finds more reads text by text. */
export const MANY = 2000

/** A word, and the groups of the text that it may be in. `rare`: a part of it that few other texts have. */
export type Part = { word: string; groups: Groups; rare?: string }

/** The documents of a kind; one parameter, the kind. */
const ofKind = (doc: string) =>
  `${doc} > (SELECT number << 40 FROM search_kinds WHERE kind = ?1)
   AND ${doc} < (SELECT (number + 1) << 40 FROM search_kinds WHERE kind = ?1)`

/** The documents of a kind, `doc` being the column with their numbers. */
export const docsOf = (doc: string, kind: string): Where => ({
  where: ofKind(doc).replaceAll('?1', '?'),
  values: [kind, kind],
})

/** The ids of things of a kind with every part in their texts, up to `most` of them, in no order. */
export function idsWithParts(tx: Db, kind: string, parts: readonly Part[], most: number): string[] {
  const letters = matchOf(parts)
  const fits = parts.map(({ word, groups }) => isInGroups('x.text', word, groups))
  const from = letters
    ? `search_index f CROSS JOIN search_texts x ON x.doc = f.rowid
       WHERE f.search_index MATCH ?3 AND ${ofKind('f.rowid')}`
    : // Of one or two letters there is no index: 300,000 texts take 30 ms.
      `search_texts x WHERE ?3 = '' AND ${ofKind('x.doc')}`
  return tx.$client
    .query<{ id: string }, (string | number)[]>(
      `SELECT x.id FROM ${from}${fits.map(({ where }) => ` AND ${where}`).join('')} LIMIT ?2`,
    )
    .all(...[kind, most, letters], ...fits.flatMap(({ values }) => values))
    .map(({ id }) => id)
}

/** As SQL: is `id` among the things of the kind with this part? All of them are found once. */
export function isOneWith(kind: string, id: string, part: Part): Where {
  const letters = matchOf([part])
  const [fits, docs] = [isInGroups('x.text', part.word, part.groups), docsOf(letters ? 'f.rowid' : 'x.doc', kind)]
  return letters
    ? {
        where: `${id} IN (SELECT x.id FROM search_index f CROSS JOIN search_texts x ON x.doc = f.rowid
          WHERE f.search_index MATCH ? AND ${docs.where} AND ${fits.where})`,
        values: [letters, ...docs.values, ...fits.values],
      }
    : {
        where: `${id} IN (SELECT x.id FROM search_texts x WHERE ${docs.where} AND ${fits.where})`,
        values: [...docs.values, ...fits.values],
      }
}
/** The letters that the index is asked for; empty where the parts have no three in a row. */
const matchOf = (parts: readonly Part[]): string =>
  [...new Set(parts.flatMap(({ word, rare = word }) => trigramsOf(rare)))]
    .map((three) => `"${three.replaceAll('"', '""')}"`)
    .join(' AND ')

/**
 * As SQL: is `id` that of a thing of the kind with every word of the text in the given groups of its own text? Where
 * few fit, they are named; where many do, each row's text is read.
 */
export function hasWords(tx: Db, kind: string, id: string, text: string, groups: Groups): Where {
  const parts = wordsOf(text).map((word) => ({ word, groups }))
  const ids = idsWithParts(tx, kind, parts, MANY + 1)
  if (ids.length <= MANY) return { where: `${id} IN (SELECT value FROM json_each(+?))`, values: [JSON.stringify(ids)] }
  const fits = parts.map(({ word }) => isInGroups('x.text', word, groups))
  return {
    where: `EXISTS (SELECT 1 FROM search_texts x WHERE x.kind = ? AND x.id = ${id}
      AND ${fits.map(({ where }) => where).join(' AND ')})`,
    values: [kind, ...fits.flatMap(({ values }) => values)],
  }
}

/** A condition with its values, for a statement of drizzle. */
export const asSql = ({ where, values }: Where): SQL =>
  sql.join(
    where.split('?').flatMap((text, i) => (i ? [sql`${values[i - 1]}`, sql.raw(text)] : [sql.raw(text)])),
    sql.raw(''),
  )

/** The ids of things of a kind whose first value is this one, `most` of them, newest first. */
export function idsBeginningWith(tx: Db, kind: string, value: string, most: number): string[] {
  const start = value.slice(0, STORED_START)
  // Behind the value is the end of the text, or of its group or value: a carriage return or a line feed.
  const end = value.length < STORED_START ? `${value}\r\u{10ffff}` : start
  return tx.$client
    .query<{ id: string }, (string | number)[]>(
      `SELECT x.id FROM search_texts x
       WHERE x.kind = ? AND substr(x.text, 1, ${STORED_START}) BETWEEN ? AND ?
         AND (x.text = ? OR (substr(x.text, 1, ?) = ? AND unicode(substr(x.text, ?)) IN (10, 13)))
       ORDER BY x.listed DESC, x.id DESC LIMIT ?`,
    )
    .all(kind, start, end, value, value.length, value, value.length + 1, most)
    .map(({ id }) => id)
}
/** Letters of the beginnings of texts in their index. */
const STORED_START = 24
