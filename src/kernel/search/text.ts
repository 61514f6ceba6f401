// Conditions of searches: rows that contain the words of a text, in capitals or not, with accents or without.
import type { Where } from '../db/rows.ts'

/** The condition behind a searched column: `name ${HAS}`, with `partOf(text)` as its value. */
export const HAS = 'GLOB ?'
const MOST_LETTERS = 100
/**
 * The pattern of everything that contains the text, in capitals or not, with accents or without: `muller` fits Müller.
 * Every other character stands for itself.
 */
export const partOf = (text: string) => `*${lettersOf(text).map(classOf).join('')}*`

/** The values of a search text stand in groups with this between them; no word of a search contains it. */
const BETWEEN_GROUPS = '\r'
/** A text may be in the groups from `first` to `last`, of `groups`. */
export type Groups = { first: number; last: number; groups: number }
/** Of a text that has no groups. */
export const oneGroup: Groups = { first: 0, last: 0, groups: 1 }
/** As `partOf`, for a search text, whose Latin letters are small and have no accents. */
export function partOfGroups(text: string, { first, last, groups }: Groups) {
  const part = lettersOf(text)
    .map((character) => baseOf(character) ?? classOf(character))
    .join('')
  return `${`*${BETWEEN_GROUPS}`.repeat(first)}*${part}*${`${BETWEEN_GROUPS}*`.repeat(groups - 1 - last)}`
}
/**
 * Has the search text in this column the text in these groups? A part that begins with a choice of letters is looked
 * for at every place of a text, 1 µs each; LIKE rules most texts out in a tenth of that.
 */
export function isInGroups(column: string, text: string, where: Groups): Where {
  const part = partOfGroups(text, where)
  const choice = /^(?:\*\r)*\*\[(.+?)\]/.exec(part)?.[1]
  const has = `${column} ${HAS}`
  if (choice === undefined) return { where: has, values: [part] }
  const letters = [...choice]
  return {
    where: `((${letters.map(() => `${column} LIKE ?`).join(' OR ')}) AND ${has})`,
    values: [...letters.map((letter) => `%${letter}%`), part],
  }
}
/** The text as the texts of the search have it: in small letters without accents. */
export const folded = (text: string): string =>
  lettersOf(text)
    .map((character) => baseOf(character) ?? character)
    .join('')

/** More of them find nothing that fewer do not. */
const MOST_TRIGRAMS = 16
/**
 * Some of every three letters in a row that the index has of each text with this word in it; none for a shorter word.
 * They lie as far apart as they can.
 */
export function trigramsOf(word: string): string[] {
  const letters = lettersOf(word).map((character) => baseOf(character) ?? character)
  const places = letters.flatMap((_, i) =>
    i + 3 <= letters.length && letters.slice(i, i + 3).every(isFoldedAlike) ? [i] : [],
  )
  const step = Math.ceil(places.length / MOST_TRIGRAMS)
  return places.filter((_, i) => i % step === 0 || i === places.length - 1).map((i) => letters.slice(i, i + 3).join(''))
}
/** Does the index have it where a search finds it, in capitals or not? Of some, SQLite and Unicode differ. */
function isFoldedAlike(character: string): boolean {
  const [small, capital] = [character.toLowerCase(), character.toUpperCase()]
  if (character === '\0') return false
  if (small === capital || /^[a-z]$/.test(character)) return true
  return /^[\u0370-\u052f]$/.test(character) && small.toUpperCase() === capital && capital.toLowerCase() === small
}
const lettersOf = (text: string) => [...text.normalize('NFC').slice(0, MOST_LETTERS)]

/** A search has so many words; the last holds the rest. */
const MOST_WORDS = 6
/** The words of a search, each to be found by itself, in whatever order. */
export function wordsOf(text: string): string[] {
  const words = text.trim().split(/\s+/)
  return [...words.slice(0, MOST_WORDS - 1), words.slice(MOST_WORDS - 1).join(' ')].filter((word, i) => word || i === 0)
}
/** Does a condition fit every word of the text? */
export function everyWord(text: string, fits: (word: string) => Where): Where {
  const each = wordsOf(text).map(fits)
  return { where: `(${each.map(({ where }) => where).join(' AND ')})`, values: each.flatMap(({ values }) => values) }
}
/**
 * The columns, given as SQL, have the word in one of them. For few rows: it reads each. LIKE takes a fifth of the time
 * of classes of letters, and is enough where word and column have none beyond ASCII.
 */
export function isIn(columns: readonly string[], word: string): Where {
  const part = partOf(word)
  if (!/^[ -~]*$/.test(word))
    return { where: `(${columns.map((column) => `${column} ${HAS}`).join(' OR ')})`, values: columns.map(() => part) }
  const like = `%${word.slice(0, MOST_LETTERS).replace(/[\\%_]/g, '\\$&')}%`
  return {
    where: `(${columns
      .map((column) => `${column} LIKE ? ESCAPE '\\' OR (${column} GLOB '*[^ -~]*' AND ${column} ${HAS})`)
      .join(' OR ')})`,
    values: columns.flatMap(() => [like, part]),
  }
}

/** The letter without its accent, in small. Search texts have it in place of the letter (0204_search_index.sql). */
const plain = (character: string) => unaccented[character] ?? character.normalize('NFD').charAt(0).toLowerCase()
/** Letters that Unicode does not take apart. */
const unaccented: Readonly<Record<string, string>> = {
  ø: 'o',
  Ø: 'o',
  ł: 'l',
  Ł: 'l',
  đ: 'd',
  Đ: 'd',
  ħ: 'h',
  Ħ: 'h',
  ı: 'i',
  ſ: 's',
}

/** `e` → `eEéÉèÈ…`: the Latin letters of European languages and of Vietnamese. */
const classes = new Map<string, string>()
const baseOfEach = new Map<string, string>()
for (const [first, end] of [
  [0x41, 0x220],
  [0x1e00, 0x1f00],
] as const)
  for (let code = first; code < end; code++) {
    const character = String.fromCodePoint(code)
    const base = plain(character)
    if (!/^[a-z]$/.test(base)) continue
    classes.set(base, (classes.get(base) ?? '') + character)
    baseOfEach.set(character, base)
  }
/** The letter in place of which a search text has this one; undefined for a character that stands for itself. */
const baseOf = (character: string): string | undefined => baseOfEach.get(character)

function classOf(character: string): string {
  const letters = classes.get(baseOf(character) ?? '')
  if (letters) return `[${letters}]`
  if (/[*?[]/.test(character)) return `[${character}]`
  const [small, capital] = [character.toLowerCase(), character.toUpperCase()]
  return small !== capital && small.length === capital.length ? `[${small}${capital}]` : character
}
