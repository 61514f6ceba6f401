// No function of the product is longer than a person can keep in mind.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

const MOST_LINES = 120

/** Functions of a source that are too long, with their lines; those within one that is found are not counted again. */
function longIn(path: string, text: string): { name: string; lines: number }[] {
  // Most files are shorter than one such function.
  if (text.split('\n').length <= MOST_LINES) return []
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: { name: string; lines: number }[] = []
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = lineOf(node.getEnd()) - lineOf(node.getStart()) + 1
      if (lines > MOST_LINES) return void found.push({ name: nameOf(node), lines })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function nameOf(node: ts.Node): string {
  const named = [node, node.parent].find((each) => 'name' in each && each.name)
  return named ? (named as unknown as { name: ts.Node }).name.getText() : '(without a name)'
}

test(`no function has more than ${MOST_LINES} lines`, () => {
  const files = [...new Bun.Glob('{src,agent,backup-server,host,views,public}/**/*.{ts,tsx,js}').scanSync('.')]
    .filter((path) => !path.startsWith('public/vendor/'))
    .toSorted()
  expect(files.length).toBeGreaterThan(500)
  const long = files.flatMap((path) => longIn(path, readFileSync(path, 'utf8')).map(({ name }) => `${path} ${name}`))
  expect(long).toEqual([])
})

test('a long function is found under its name, and a long list of short ones is none', () => {
  const body = '  x()\n'.repeat(MOST_LINES)
  expect(longIn('a.ts', `function deed() {\n${body}}`)).toEqual([{ name: 'deed', lines: MOST_LINES + 2 }])
  expect(longIn('a.ts', `const deed = () => {\n${body}}`).map(({ name }) => name)).toEqual(['deed'])
  expect(longIn('a.tsx', `const all = {\n${'  a: () => <b />,\n'.repeat(MOST_LINES)}}`)).toEqual([])
})
