// Anybody who has the source can make the same program, byte for byte, and so find out whether a release is that.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'

const root = new URL('../..', import.meta.url).pathname
const sources = Bun.spawnSync(['git', 'ls-files', '-co', '--exclude-standard'], { cwd: root })

/** A build by the commands of install.sh, in a folder of its own. */
async function built(name: string): Promise<string> {
  const here = temporary(name)
  for (const file of sources.stdout.toString().split('\n').filter(Boolean))
    if (!file.startsWith('test/')) cpSync(join(root, file), join(here, file))
  const [from, to] = [join(root, 'node_modules'), join(here, 'node_modules')]
  // Links where both are on one disk, because it is hundreds of megabytes.
  const linked = Bun.spawnSync(['cp', '-al', from, to]).exitCode === 0
  if (!linked) cpSync(from, to, { recursive: true })
  const script = '. packaging/build.sh; mkdir -p dist; compile none'
  const child = Bun.spawn(['bash', '-euc', script], {
    cwd: here,
    env: { PATH: process.env['PATH']!, HOME: here, here, bun: process.execPath },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const words = await new Response(child.stderr).text()
  expect([await child.exited, words]).toEqual([0, expect.any(String)])
  return createHash('sha256')
    .update(readFileSync(join(here, 'dist/berth')))
    .digest('hex')
}

test('two builds of one source in two folders have one hash', async () => {
  expect(await built('build-here')).toBe(await built('a-build-in-another-folder'))
}, 120_000)
