// The vocabulary of the code (docs/glossary.md) as rules over lines. A finding names the rule, so that a file may be
// allowed some for a time.

export type Finding = { rule: Rule; line: number; words: string }
export const rules = ['name', 'word', 'relative clause', 'long line'] as const
export type Rule = (typeof rules)[number]

export const MOST_COLUMNS = 120

/** Names that the code does not use, and what it says instead. */
const names: Readonly<Record<string, string>> = {
  Surroundings: 'AppContext',
  Asked: 'RequestContext',
  Asking: 'RequestContext',
  Preparation: 'PrepareContext',
  Refusal: 'ApiError',
  heardOf: 'request context',
  hindrance: 'disabledReason',
  whyNot: 'disabledReason',
  inPerson: 'requiresSession',
  inSupport: 'allowedInSupportSession',
  isOpenInSupport: 'isAllowedInSupportSession',
  keptFromSupport: 'isBarredFromSupportSession',
  signsIn: 'authAttempt',
  onHost: 'localOnly',
  sealed: 'encrypted',
  spendLink: 'consumeLink',
  doer: 'auditActor',
  seams: 'failpoints',
  Seams: 'Failpoints',
  powerCut: 'crash injection',
  slate: 'invariants',
  PoolRoom: 'PoolSpace',
}
const paths: Readonly<Record<string, string>> = {
  'finish-sign-in': 'complete-sign-in',
  'power-cut': 'crash injection',
  'cannot-start': 'startup-errors',
  'bring-up': 'startup',
  'as-typed': 'shell-quote',
}
/** Names of files that tell a stranger nothing, or too much at once. */
const fileNames =
  'asked|declared|helpers?|kept|misc|places|repeated|room|sheet|spells|spread|together|turns?|upkeep|utils?'
const saysNothing = new RegExp(`(?:^|/)(?:${fileNames})(?:\\.test)?\\.tsx?$`)
/** A name of a file or folder that says nothing. */
export const isVague = (path: string): boolean => saysNothing.test(path)
/** A schema of what an operation answers is a response. */
const schemaName = /\b\w+Answer(?= = (?:namedSchema|described)\()/g

const named = new RegExp(`(?<![A-Za-z])(?:${[...Object.keys(names), ...Object.keys(paths)].join('|')})(?![a-z])`, 'g')

/** Words for parts of the code, in comments. */
const prose: readonly (readonly [RegExp, string])[] = [
  [/\brooms?\b/i, 'feature'],
  [/\bnouns?\b/i, 'model'],
  [/\bverbs?\b/i, 'action'],
  [/\bdoors?\b/i, 'connection, or gate'],
  [/\btold of\b/i, 'notified of'],
  [/\btaken back\b/i, 'rolled back, or returned'],
  [/\bgo(?:es)? on living\b/i, 'keeps running'],
]

const openings =
  'Whom?|Whose|Whoever|What|Whatever|(?:Of|From|For|By) (?:what|which|whom)|Nobody|Nothing that|That which'
const isComment = /^\s*(?:\/\/|\/?\*|#(?!!))/
const opensRelative = new RegExp(`^\\s*(?:\\/\\/|\\/?\\*+|#)\\s*(?:Also\\s+)?(?:${openings})\\b`)

/** The findings in the text of one file, in the order of its lines. */
export function findingsIn(text: string): Finding[] {
  return text.split('\n').flatMap((line, i): Finding[] => {
    const found = (rule: Rule, words: string): Finding => ({ rule, line: i + 1, words })
    const long = line.length > MOST_COLUMNS ? [found('long line', `${line.length} columns`)] : []
    if (!isComment.test(line))
      return [
        ...long,
        ...[...line.matchAll(schemaName)].map(([name]) =>
          found('name', `${name}: say ${name.replace('Answer', 'Response')}`),
        ),
        ...[...line.matchAll(named)].map(([name]) => found('name', `${name}: say ${names[name] ?? paths[name]}`)),
      ]
    return [
      ...long,
      ...(opensRelative.test(line) ? [found('relative clause', 'begin with a subject and a verb')] : []),
      ...prose.flatMap(([pattern, better]) => {
        const [word] = pattern.exec(line) ?? []
        return word ? [found('word', `${word}: say ${better}`)] : []
      }),
    ]
  })
}
