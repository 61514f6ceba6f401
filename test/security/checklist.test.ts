// docs/security.md names the test of each rule of the security checklist. A rule without one has not been built.
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { Glob } from 'bun'

const root = new URL('../..', import.meta.url).pathname
const text = readFileSync(`${root}docs/security.md`, 'utf8')
const rows = [...text.matchAll(/^\| S([0-9]+) \| (.+?) \| (`\S+`(?:, `\S+`)*) \| `(\S+)` \|$/gm)].map(
  ([, number, rule, places, file]) => ({
    number: Number(number),
    rule: rule!,
    keptIn: places!.split(', ').map((place) => place.slice(1, -1)),
    file: file!,
  }),
)

/** The numbers in the names of a file's tests and of their groups. */
const numbersIn = (file: string): ReadonlySet<number> =>
  new Set(
    readFileSync(root + file, 'utf8')
      .split('\n')
      .filter((line) => /\b(?:test|describe)\b[.\w()]*\(|^\s*\[?['"`]S[0-9]/.test(line))
      .flatMap((line) => [...line.matchAll(/\bS([0-9]{1,2})\b/g)].map(([, number]) => Number(number))),
  )

describe('the security checklist', () => {
  test('has its rules in order, each once', () => {
    expect(rows.length).toBeGreaterThan(50)
    expect(rows.map((row) => row.number)).toEqual([...new Set(rows.map((row) => row.number))].toSorted((a, b) => a - b))
  })
  for (const { number, rule, keptIn, file } of rows)
    test(`S${number} is held by ${file}: ${rule}`, () => {
      expect([...keptIn, file].filter((path) => !existsSync(root + path))).toEqual([])
      expect([...numbersIn(file)]).toContain(number)
    })
  test('has every number that a test names', () => {
    const named = [...new Glob('test/**/*.test.{ts,tsx}').scanSync({ cwd: root })].flatMap((file) => [
      ...numbersIn(file),
    ])
    expect([...new Set(named)].filter((number) => !rows.some((row) => row.number === number))).toEqual([])
  })
})
