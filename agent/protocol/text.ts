// The rule for one line of text that people read, the same for what a person types and for what a node reports.

/** Control characters, marks that turn the direction of text, characters without a width, and lone surrogates. */
const UNREADABLE =
  '\\u0000-\\u001f\\u007f-\\u009f\\u200b\\u200e\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff\\ud800-\\udfff'

/** The title of the schema of such a line: OpenAPI names the type by it, and texts of that type are composed. */
export const LINE = 'one line of text'
/** The pattern of such a line, for a schema that refuses every other text. */
export const LINE_PATTERN = `^[^${UNREADABLE}]*$`

const marks = new Set('\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff')
/**
 * The text without marks of direction and of no width at its ends, which text from Hebrew and Arabic pages carries, and
 * without the spaces beside them.
 */
export function withoutMarks(text: string): string {
  const isEdge = (at: number) => text[at] === ' ' || marks.has(text[at]!)
  let from = 0
  let to = text.length
  while (from < to && isEdge(from)) from++
  while (to > from && isEdge(to - 1)) to--
  const hasMark = (part: string) => [...part].some((character) => marks.has(character))
  return text.slice(hasMark(text.slice(0, from)) ? from : 0, hasMark(text.slice(to)) ? to : text.length)
}

const unreadable = new RegExp(`[${UNREADABLE}]`, 'gu')
const code = (character: string) => character.charCodeAt(0).toString(16)

/** The text with each unreadable character as its code: `\x1b`, `\u202e`. */
export const escaped = (text: string): string =>
  text.replace(unreadable, (found) =>
    code(found).length > 2 ? `\\u${code(found).padStart(4, '0')}` : `\\x${code(found).padStart(2, '0')}`,
  )

/** As `escaped`, of text with lines: line feeds and tabs stay. */
export const escapedLines = (text: string): string =>
  text.replace(unreadable, (found) => (found === '\n' || found === '\t' ? found : escaped(found)))

/** The text with a question mark in place of each unreadable character; it is as long as before. */
export const printable = (text: string): string => text.replace(unreadable, '?')
