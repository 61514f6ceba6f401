// Values of an answer that a stranger wrote, read with tolerance: numbers and flags may come as text, a list may be an
// array or an object by id, an empty list may be null. Only the wanted fields are read; the rest is never looked at.
import { printable } from '../../../../agent/protocol/text.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A field of an object; undefined where the value is none, or has no such field of its own. */
export const field = (value: unknown, ...path: readonly string[]): unknown => {
  let at = value
  for (const name of path) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at
}

/** Is the value a collection, perhaps an empty one? Text and numbers are none. */
export const isCollection = (value: unknown): boolean =>
  value === null || value === false || (typeof value === 'object' && value !== null)

/**
 * The objects of a collection, which may be an array or an object by id. An element that is no object counts as one
 * without fields, so that it is missed by nobody.
 */
export const rowsOf = (value: unknown): readonly JsonObject[] =>
  typeof value === 'object' && value !== null ? Object.values(value).map((row) => (isObject(row) ? row : {})) : []

/** The elements of a collection, whatever they are, with their keys. */
export const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

const LONGEST_TEXT = 255

/** One line of readable text; null where there is none. */
export function text(value: unknown, most = LONGEST_TEXT): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value !== 'string') return null
  const line = printable(value.slice(0, most)).toWellFormed().normalize('NFC').trim().slice(0, most)
  return line === '' ? null : line
}

/** Ids of other panels: never the beginning of a path or of an option. */
export const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
/** An id as text; null where the value cannot be one. 0 is an id as good as any. */
export function id(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? String(value) : null
  return typeof value === 'string' && ID.test(value) ? value : null
}

/** The id of something else: also null where it is 0 or empty, which says that there is none. */
export const reference = (value: unknown): string | null => {
  const found = id(value)
  return found === '0' ? null : found
}

const NUMBER = /^\s*[+-]?\d{1,18}(\.\d{1,18})?\s*$/
/** A number from 0 to `most`; null for anything else. */
export function number(value: unknown, most: number): number | null {
  const found = typeof value === 'string' ? (NUMBER.test(value) ? Number(value) : Number.NaN) : value
  return typeof found === 'number' && found >= 0 && found <= most ? found : null
}

/** A whole number from 0 to `most`. */
export function whole(value: unknown, most: number): number | null {
  const found = number(value, most)
  return found === null ? null : Math.round(found)
}

const yes: ReadonlySet<unknown> = new Set([true, 1, '1', 'true', 'yes', 'on'])
export const flag = (value: unknown): boolean => yes.has(typeof value === 'string' ? value.trim().toLowerCase() : value)

const EMAIL = /^[^\s@,;<>"'`\\]{1,64}@[^\s@,;<>"'`\\]{1,189}$/
/** An address of mail in small letters; null where the value is none. */
export function email(value: unknown): string | null {
  const found = text(value)?.toLowerCase() ?? ''
  return EMAIL.test(found) ? found : null
}

/** Six pairs of small hexadecimal digits with colons. */
export function mac(value: unknown): string | null {
  const digits = typeof value === 'string' ? value.trim().toLowerCase() : ''
  if (!/^[0-9a-f]{2}([:-]?[0-9a-f]{2}){5}$/.test(digits)) return null
  return digits.replace(/[:-]/g, '').replace(/..(?=.)/g, '$&:')
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
export function uuid(value: unknown): string | null {
  const found = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return UUID.test(found) ? found : null
}

/** Seconds since 1970, or a time in RFC 3339; as Unix milliseconds. */
export function time(value: unknown): number | null {
  const seconds = whole(value, 99_999_999_999)
  if (seconds !== null) return seconds > 0 ? seconds * 1000 : null
  const parsed = typeof value === 'string' && value.length < 64 ? Date.parse(value) : Number.NaN
  return parsed > 0 ? parsed : null
}
