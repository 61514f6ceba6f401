// Lines of documents fit an editor beside another window: 120 columns, as those of the code.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { MOST_COLUMNS } from './words.ts'

const root = new URL('../..', import.meta.url).pathname
const documents = ['', 'docs/'].flatMap((dir) =>
  readdirSync(root + dir).flatMap((name) => (name.endsWith('.md') ? [dir + name] : [])),
)

/** Long lines of code that stay: a command, a unit or a token that means something else in two lines. */
const longCode: Readonly<Record<string, number>> = {
  'README.md': 2,
  'docs/accounts.md': 3,
  'docs/api.md': 2,
  'docs/architecture.md': 15,
  'docs/backup-server.md': 1,
  'docs/backup.md': 2,
  'docs/billing.md': 2,
  'docs/moves.md': 1,
  'docs/nodes.md': 1,
  'docs/sign-in.md': 1,
  'docs/storage.md': 2,
  'docs/webhooks.md': 2,
}

type Long = { line: number; isCode: boolean }
/** Lines of tables, of what tests write, and of HTML have no other form. */
function longLines(text: string): Long[] {
  let isCode = false
  let generated = ''
  return text.split('\n').flatMap((line, at) => {
    if (/^\s*```/.test(line)) isCode = !isCode
    generated = /^<!-- (\w+) -->$/.exec(line)?.[1] ?? (line === `<!-- /${generated} -->` ? '' : generated)
    const isExcepted = !isCode && (generated !== '' || /^\s*\|/.test(line))
    return line.length > MOST_COLUMNS && !isExcepted ? [{ line: at + 1, isCode }] : []
  })
}

test('no line of a document is longer than 120 columns, but for tables', () => {
  expect(documents.length).toBeGreaterThan(40)
  const found = documents.flatMap((document) =>
    longLines(readFileSync(root + document, 'utf8'))
      .filter(({ isCode }) => !isCode)
      .map(({ line }) => `${document}:${line}`),
  )
  expect(found).toEqual([])
})

test('no document gets another long line of code', () => {
  const found = documents.flatMap((document) => {
    const { length } = longLines(readFileSync(root + document, 'utf8')).filter(({ isCode }) => isCode)
    return length ? [[document, length] as const] : []
  })
  expect(Object.fromEntries(found)).toEqual(longCode)
})

test('a long line is found in a text and in code, and not in a table', () => {
  const long = 'a'.repeat(MOST_COLUMNS + 1)
  expect(
    longLines(`${long}\n| ${long} |\n\`\`\`sh\n${long}\n\`\`\`\n<!-- keys -->\n${long}\n<!-- /keys -->\n`),
  ).toEqual([
    { line: 1, isCode: false },
    { line: 4, isCode: true },
  ])
})
