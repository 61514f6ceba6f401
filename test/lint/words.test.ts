// Names, comments and lines that a stranger can read.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { findingsIn, isVague, MOST_COLUMNS, type Rule, rules } from './words.ts'

const trees = ['src', 'agent', 'backup-server', 'host', 'views', 'test'] as const

const found = Object.fromEntries(
  trees.map((tree) => {
    const files = [...new Bun.Glob(`${tree}/**/*.{ts,tsx}`).scanSync('.')].toSorted()
    return [
      tree,
      files
        .filter((path) => !/^test\/(artefacts|lint)\//.test(path))
        .flatMap((path) => findingsIn(readFileSync(path, 'utf8')).map((one) => ({ path, ...one }))),
    ]
  }),
)
const ofRule = (tree: string, rule: Rule) => found[tree]!.filter((one) => one.rule === rule)

for (const tree of trees)
  for (const rule of rules)
    test(`${tree} has no findings: ${rule}`, () => {
      expect(ofRule(tree, rule).map(({ path, line, words }) => `${path}:${line}: ${words}`)).toEqual([])
    })

test('every file is named after what it holds', () => {
  const paths = trees.flatMap((tree) => [...new Bun.Glob(`${tree}/**/*.{ts,tsx}`).scanSync('.')])
  expect(paths.filter(isVague)).toEqual([])
})

describe('a rule', () => {
  const rulesIn = (text: string) => findingsIn(text).map(({ rule, line }) => `${line} ${rule}`)
  test('finds a vague name of a file, and none in a longer one', () =>
    expect(['src/a/turn.ts', 'test/kept.test.ts', 'src/return.ts', 'src/recovery-sheet.ts'].map(isVague)).toEqual([
      ...[true, true, false, false],
    ]))
  test('finds the name of a schema that is no response', () =>
    expect(rulesIn("const keyAnswer = namedSchema('Key', {})\nconst mustAnswer = 1")).toEqual(['1 name']))
  test('finds a name', () =>
    expect(rulesIn("const x = 1\nimport { Surroundings } from './bring-up.ts'")).toEqual(['2 name', '2 name']))
  test('finds no name in a longer word', () => expect(rulesIn('const newsletter = concealed')).toEqual([]))
  test('finds a word in a comment, and leaves it alone in code', () =>
    expect(rulesIn('// The door of the room.\nconst door = room')).toEqual(['1 word', '1 word']))
  test('finds a comment that opens with a relative clause', () =>
    expect(
      rulesIn('/** Who asks. */\n/**\n * Of what it is made.\n */\n// Nobody sees it.\n# What it does\n// It is made.'),
    ).toEqual(['1 relative clause', '3 relative clause', '5 relative clause', '6 relative clause']))
  test('finds a line that is too long, and none that just fits', () =>
    expect(rulesIn(`${'a'.repeat(MOST_COLUMNS)}\n${'a'.repeat(MOST_COLUMNS + 1)}`)).toEqual(['2 long line']))
})
