// Starts a program in every way that the agent has, and waits until it is killed. Argument: a word that all of them
// carry, a folder.
import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { begin, beginConfined, lines, run } from '../../../agent/host/exec.ts'

const [mark = '', dir = ''] = process.argv.slice(2)
const PROGRAM = 'qemu-system-x86_64'
const words = (way: string) => ['-nodefaults', '-display', 'none', '-S', '-name', `${way}-${mark}`]
const file = (name: string) => {
  writeFileSync(join(dir, name), '')
  return join(dir, name)
}

const ways = {
  run: () => void run(PROGRAM, words('run')),
  confined: () =>
    void run(PROGRAM, words('confined'), {
      confined: { reads: file('reads'), writes: file('writes'), mostFileBytes: 1000 },
    }),
  lines: () => void lines(PROGRAM, words('lines'), new AbortController().signal).next(),
  begin: () => void begin(PROGRAM, words('begin')),
  beginLimited: () => void begin(PROGRAM, words('beginLimited'), { mostFileBytes: 1000 }),
  beginConfined: () =>
    void beginConfined(PROGRAM, words('beginConfined'), { input: openSync(file('input'), 'r'), limitSeconds: 60 }),
}

for (const start of Object.values(ways)) start()
process.stdout.write(Object.keys(ways).join(' '))
await Bun.sleep(60_000)
