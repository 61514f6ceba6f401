// The cost of JSON.parse grows with the depth and the number of values, not with the length alone: a megabyte of `[`
// blocks the event loop for a second. So text from strangers is scanned first, which takes a millisecond a megabyte.

/** The way in which the text goes beyond `mostNested` levels or `mostValues` values; undefined when it does not. */
export function excessOf(text: string, mostNested: number, mostValues: number): 'depth' | 'values' | undefined {
  let depth = 0
  let values = 1
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i)
        break
      case BRACKET:
      case BRACE:
        if (++depth > mostNested) return 'depth'
        break
      case END_OF_BRACKET:
      case END_OF_BRACE:
        depth--
        break
      case COMMA:
        if (++values > mostValues) return 'values'
    }
  }
  return undefined
}
const [QUOTE, BACKSLASH, COMMA, BRACKET, END_OF_BRACKET, BRACE, END_OF_BRACE] = [34, 92, 44, 91, 93, 123, 125]

/** The end of the string that opens at `start`: the next quotation mark behind an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === BACKSLASH) before--
    if ((end - before) % 2 === 0) return end
  }
  return text.length
}

/** May the text be parsed? It still may be no JSON. */
export const isModestJson = (text: string, mostNested: number, mostValues: number): boolean =>
  excessOf(text, mostNested, mostValues) === undefined
