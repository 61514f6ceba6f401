// The terms of docs/glossary.md as rules over the texts of the product: what people read says one thing in one way.
export type TermFinding = { line: number; words: string }

/** Terms that texts do not use, and the one that they use. */
const terms: readonly (readonly [pattern: RegExp, better: string])[] = [
  [/\bhost machines?\b/i, 'node'],
  [/\bgraphics cards?\b/i, 'GPU, or card'],
  [/\bnotifications?\b/i, 'notice'],
  [/\bclients?' accounts?\b/i, 'customer'],
  [/\bmay be promised\b/i, 'overcommit limit'],
  [/\bfloating IPs?\b/i, 'floating address'],
  [/\d%(?!\w)/, 'a space before %'],
]
/** Forms of times that are made by hand: src/kernel/db/clock.ts and views/components/time.tsx have the one form. */
const times: readonly (readonly [pattern: RegExp, better: string])[] = [
  [/\bDateTimeFormat\(/, 'a form of views/components/time.tsx'],
  [/iso\([^)]*\)\.slice\(0, 1[069]\)|toISOString\(\)\.slice\(0, 1[069]\)/, 'dayText or minuteText'],
]

const isComment = /^\s*(?:\/\/|\/?\*)/
/** Texts of a line of code: strings with a blank in them, and text between tags. Names and addresses are none. */
const textsIn = (line: string): string[] =>
  [...line.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`|>([^<>{}]+)[<{]|^\s*([A-Z][^<>{}=;]*[ .])$/g)]
    .map((found) => found.slice(1).find((part) => part !== undefined) ?? '')
    .filter((text) => text.includes(' ') && !/^[./]|SELECT |UPDATE |CREATE /.test(text))

/** The findings in the text of one file of `src` or `views`, in the order of its lines. */
export const termsIn = (text: string): TermFinding[] =>
  text.split('\n').flatMap((line, i) =>
    isComment.test(line)
      ? []
      : textsIn(line).flatMap((words) =>
          terms.flatMap(([pattern, better]) => {
            const [found] = pattern.exec(words) ?? []
            return found ? [{ line: i + 1, words: `${found}: say ${better}` }] : []
          }),
        ),
  )

/** Times that a file makes into text in a form of its own. */
export const timesIn = (text: string): TermFinding[] =>
  text.split('\n').flatMap((line, i) =>
    times.flatMap(([pattern, better]) => {
      const [found] = pattern.exec(line) ?? []
      return found ? [{ line: i + 1, words: `${found}: use ${better}` }] : []
    }),
  )
