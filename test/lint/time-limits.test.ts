// A limit below the usual one only makes a test fail on a slow machine.
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
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

test('each of several files that run one after another has the usual limit', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-limits-'))
  const preload = join(import.meta.dir, '../support/close-opened.ts')
  writeFileSync(join(dir, 'bunfig.toml'), `[test]\npreload = [${JSON.stringify(preload)}]\n`)
  // Bun's own limit is 5 s.
  for (const [name, ms] of [
    ['a', 0],
    ['b', 5200],
    ['c', 0],
  ] as const)
    writeFileSync(
      join(dir, `${name}.test.ts`),
      `import { test } from 'bun:test'\ntest('waits', () => Bun.sleep(${ms}))\n`,
    )
  const ran = Bun.spawn([process.execPath, 'test', './a.test.ts', './b.test.ts', './c.test.ts'], {
    cwd: dir,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, code] = await Promise.all([new Response(ran.stderr).text(), ran.exited])
  rmSync(dir, { recursive: true })
  expect([code, said]).toEqual([0, expect.stringContaining('3 pass')])
})
