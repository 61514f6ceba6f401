// Names, comments and lines that a stranger can read.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { findingsIn, isVague, MOST_COLUMNS, type Rule, rules, twinsIn } from './words.ts'

const trees = ['src', 'agent', 'backup-server', 'host', 'views', 'public', 'test'] as const

const found = Object.fromEntries(
  trees.map((tree) => {
    const files = [...new Bun.Glob(`${tree}/**/*.{ts,tsx,js}`).scanSync('.')].toSorted()
    return [
      tree,
      files
        .filter((path) => !/^(test\/(artefacts|lint)|public\/vendor)\//.test(path))
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
  expect(twinsIn(paths)).toEqual([])
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
  test('finds a word in a comment', () => expect(rulesIn('// The door of the room.')).toEqual(['1 word', '1 word']))
  test('finds what a word of the list is declared as, and none in a text or a longer name', () => {
    const lines = [
      'const room = 1',
      'rows.map((it) => it)',
      'for (const it of all)',
      'type Standing = {}',
      'f(a, verb: string)',
    ]
    for (const line of lines) expect(rulesIn(line)).toEqual(['1 name'])
    for (const line of ["const x = 'let it: be, it =>'", 'const bedroom = newest', 'use(it.x)'])
      expect(rulesIn(line)).toEqual([])
  })
  test('finds twins among the files of a folder', () =>
    expect(twinsIn(['a/node.ts', 'a/nodes.test.ts', 'b/nodes.ts', 'b/noded.ts'])).toEqual(['a/node']))
  test('finds a comment that opens with a relative clause', () =>
    expect(
      rulesIn('/** Who asks. */\n/**\n * Of what it is made.\n */\n// Nobody sees it.\n# What it does\n// It is made.'),
    ).toEqual(['1 relative clause', '3 relative clause', '5 relative clause', '6 relative clause']))
  test('finds a line that is too long, and none that just fits', () =>
    expect(rulesIn(`${'a'.repeat(MOST_COLUMNS)}\n${'a'.repeat(MOST_COLUMNS + 1)}`)).toEqual(['2 long line']))
})
