// A limit below the usual one only makes a test fail on a slow machine.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { USUAL_LIMIT_MS } from '../support/close-opened.ts'

const root = join(import.meta.dir, '..')
/** The limit behind the work of a test or of a hook. */
const LIMIT = /^\s*\}, ([\d_]+000)\)$/gm

test('no test or hook has a time limit that is shorter than the usual one', () => {
  const short = [...new Bun.Glob('**/*.test.ts').scanSync(root)].flatMap((path) =>
    [...readFileSync(`${root}/${path}`, 'utf8').matchAll(LIMIT)]
      .filter(([, limit]) => Number(limit!.replaceAll('_', '')) < USUAL_LIMIT_MS)
      .map(([found]) => `${path}: ${found.trim()}`),
  )
  expect(short).toEqual([])
})
