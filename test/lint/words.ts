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
  isSealed: 'isEncrypted',
  seenResource: 'visibleResource',
  SeenWorkload: 'VisibleWorkload',
}
const paths: Readonly<Record<string, string>> = {
  'finish-sign-in': 'complete-sign-in',
  'power-cut': 'crash injection',
  'cannot-start': 'startup-errors',
  'bring-up': 'startup',
  'as-typed': 'shell-quote',
}
/** Words that are no name of a variable, a function or a type, and what the code says instead. */
const declaredNames: Readonly<Record<string, string>> = {
  it: 'the thing that it is',
  room: 'capacity, or space',
  rooms: 'capacities, or spaces',
  noun: 'model',
  verb: 'action, or command',
  verbs: 'actions, or commands',
  door: 'connection, or gate',
  around: 'what it is: a prefix, a context',
  asking: 'the thing that asks',
  pieces: 'stream, or parts',
  standing: 'accessLevel, or the thing that stands there',
  looks: 'uiPreferences, or appearances',
  seenBy: 'visibleTo',
  slate: 'invariants',
}
const anyOfThem = Object.keys(declaredNames).join('|')
const declares = new RegExp(
  [
    `\\b(?:const|let|var) (${anyOfThem})(?= ?(?:=|:|,|;| of | in |$))`,
    `\\b(?:function|type|interface|class) (${anyOfThem})\\b`,
    `(?:\\b|\\()(${anyOfThem})\\)? =>`,
    `[(,] ?(${anyOfThem}): `,
  ].join('|'),
  'gi',
)
const strings = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g
/** The names of the list that a line of code declares. */
const declaredIn = (line: string): string[] =>
  [...line.replaceAll(strings, "''").matchAll(declares)].map((found) => found.slice(1).find(Boolean)!)
/** Names of files that tell a stranger nothing, or too much at once. */
const fileNames =
  'answered|asked|declared|enter|guard|guessing|helpers?|kept|letter|looks|misc|pending|places|proof|repeated|' +
  'rooms?|sheet|slate|spells|spread|steady|together|turns?|upkeep|utils?|who'
const saysNothing = new RegExp(`(?:^|/)(?:${fileNames})(?:\\.test)?\\.tsx?$`)
/** A name of a file or folder that says nothing. */
export const isVague = (path: string): boolean => saysNothing.test(path)
/** Pairs of files or folders of one folder whose names differ by an `s`, such as `node.ts` and `nodes.ts`. */
export function twinsIn(paths: readonly string[]): string[] {
  const names = new Set(paths.map((path) => path.replace(/(?:\.test)?\.\w+$/, '')))
  return [...names].filter((name) => names.has(`${name}s`))
}
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
        ...declaredIn(line).map((name) =>
          found('name', `${name}: say ${declaredNames[name.toLowerCase()] ?? declaredNames[name]}`),
        ),
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
