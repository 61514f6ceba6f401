// One set of terms, one form of times, one of percentages, in everything that people read.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type TermFinding, termsIn, timesIn } from './terms.ts'

const files = ['src', 'views', 'agent/commands', 'agent/drivers'].flatMap((tree) => [
  ...new Bun.Glob(`${tree}/**/*.{ts,tsx}`).scanSync('.'),
])
const found = (paths: readonly string[], findings: (text: string) => TermFinding[]) =>
  paths.flatMap((path) => findings(readFileSync(path, 'utf8')).map(({ line, words }) => `${path}:${line}: ${words}`))

test('texts have the terms of the glossary', () => {
  expect(files.length).toBeGreaterThan(1000)
  expect(found(files, termsIn)).toEqual([])
})

/** They read the parts of a local time, or are what all others use. */
const ownForms = [
  'src/compute/backups/plans/clock-changes.ts',
  'src/compute/backups/plans/days.ts',
  'src/imports/migrate/window.ts',
  'src/platform/messages/local-time.ts',
  'src/platform/roll-outs/windows.ts',
  'views/billing/usage/month.tsx',
  'views/components/time.tsx',
]
/** Names of files and keys, dates of fields: no text. */
const noText = [
  'agent/drivers/source-removal/fake.ts',
  'src/app/commands/release.ts',
  'src/kernel/api/query.ts',
  'src/kernel/crypto/key-ring.ts',
  'src/kernel/db/clock.ts',
]
test('times are made into text in two places', () => {
  expect(found(files, timesIn).filter((one) => ![...ownForms, ...noText].includes(one.split(':')[0]!))).toEqual([])
})

test('the rules find what they are for', () => {
  const wordsOf = (line: string) => termsIn(line).length
  for (const line of ["'The host machine is away.'", 'title="More than 90% used"', "'Choose notifications here'"])
    expect([line, wordsOf(line)]).toEqual([line, 1])
  for (const line of ['// the host machine', "'/account/notifications'", "'90 % of it'", "width: '100%'"])
    expect([line, wordsOf(line)]).toEqual([line, 0])
  expect(timesIn("const day = iso(at).slice(0, 10)\nnew Intl.DateTimeFormat('en')")).toHaveLength(2)
})
