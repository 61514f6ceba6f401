// Every sentence of the specification about imports has a test whose title it is.
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sentences } from './sentences.ts'

const STRING = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/
const joined = `(?:${STRING.source})(?:\\s*\\+\\s*(?:${STRING.source}))*`
// A test, or a group of them; also of a list, or left out somewhere.
const TEST = new RegExp(`\\b(?:test|describe)(?:\\.\\w+\\([^\\n]*?\\))*\\(\\s*((?:${joined}))`, 'g')

/** The titles of the tests in a file, with strings over several lines as one. */
function titlesIn(file: string): string[] {
  const path = join(import.meta.dir, '..', file)
  if (!existsSync(path)) return []
  return [...readFileSync(path, 'utf8').matchAll(TEST)].map(([, strings]) =>
    [...strings!.matchAll(new RegExp(STRING, 'g'))].map(([one]) => one.slice(1, -1).replace(/\\(.)/g, '$1')).join(''),
  )
}
/** Quotation marks, and the mark at the end, may be others in a title. */
const plain = (words: string) => words.replaceAll('’', "'").replace(/[.;:]$/, '')

const files = new Map<string, string[]>()
const has = (file: string, words: string) => {
  if (!files.has(file)) files.set(file, titlesIn(file).map(plain))
  return files.get(file)!.some((title) => title.includes(plain(words)))
}

for (const point of Array.from({ length: 18 }, (_, i) => i + 1))
  test(`Each sentence of point ${point} is the title of a test`, () => {
    const found = sentences.filter((one) => one.point === point)
    expect(found.length).toBeGreaterThan(0)
    for (const { words, tests } of found) {
      expect([words, tests.length > 0]).toEqual([words, true])
      for (const one of tests) {
        const [file, title] = typeof one === 'string' ? [one, words] : one
        expect([file, title, has(file, title)]).toEqual([file, title, true])
      }
    }
  })

test('A sentence is no title where a file has no such test', () => {
  const [first] = sentences
  expect(has('imports/sentences.test.ts', first!.words)).toBe(false)
  expect(has('imports/none.test.ts', first!.words)).toBe(false)
})
