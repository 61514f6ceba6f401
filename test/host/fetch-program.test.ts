// A program that install.sh fetches is whole, or nothing of it stays. What answers for the controller is a stand-in.
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'

const installer = readFileSync('install.sh', 'utf8')
const PROGRAM = '#!/bin/bash\necho 1.10.0\n'
const digest = createHash('sha256').update(PROGRAM).digest('base64')

/** `curl`: lines of the stand-in, to which `$file` is the program and `$head` the headers. */
async function fetching(curl: string, { freeMib = 5000, end }: { freeMib?: number; end?: NodeJS.Signals } = {}) {
  const root = temporary('fetched')
  const path = join(root, 'install.sh')
  const moved = installer
    .replaceAll(/^(program|library|settings|logs|agent_state)=\//gm, `$1=${root}/`)
    .replace(/\nmain "\$@"\n$/, '\n')
  writeFileSync(path, moved)
  const lines = `. ${path}
    packages() { :; }
    df() { printf 'Filesystem\\nx 9 9 ${freeMib} 9 /\\n'; }
    curl() {
      local head file
      while [ $# -gt 0 ]; do case $1 in -D) head=$2 ;; -o) file=$2 ;; esac; shift; done
      ${curl}
    }
    log=${root}/log; exec 4>&2; trap 'say_failure $?' EXIT
    current='' mode=agent token=enr_1 controller_url=https://panel.example.com ca='' pin='' insecure=''
    mkdir -p "$library"; touch ${root}/begun
    step Program fetch_program "$library/fetched"`
  const child = Bun.spawn(['bash', '-c', `set -euo pipefail; ${lines}`], { stdout: 'pipe', stderr: 'pipe' })
  if (end) {
    while (!existsSync(`${root}/waits`)) await Bun.sleep(20)
    child.kill(end)
  }
  const err = await new Response(child.stderr).text()
  return { code: await child.exited, err, left: readdirSync(`${root}/usr/local/lib/berth`) }
}
const sends = (text: string) => `printf '%s' '${text}' >"$file"; printf 'Repr-Digest: sha-256=:${digest}:\\n' >"$head"`

test('a program that arrives whole is there, alone', async () => {
  expect(await fetching(sends(PROGRAM.replaceAll("'", '')))).toEqual({ code: 0, err: '', left: ['fetched'] })
})

test.each([
  ['a disk that is full on the way', `${sends('#!/bin')}; return 23`, 'is full'],
  ['a connection that breaks', `${sends('#!/bin')}; return 18`, 'the connection broke'],
  ['a program that was altered', sends('#!/bin/bash\necho evil\n'), 'SHA-256 differs'],
])('%s leaves nothing, and is said', async (_, curl, words) => {
  const { code, err, left } = await fetching(curl)
  expect(code).toBe(1)
  expect(err).toContain(words)
  expect(left).toEqual([])
})

test('a disk that is too full is not begun with', async () => {
  const { code, err, left } = await fetching('touch "$file"', { freeMib: 299 })
  expect([code, left]).toEqual([1, []])
  expect(err).toContain('has less than 300 MiB free')
})

test('a person who ends it leaves nothing', async () => {
  const waits = `${sends('#!/bin')}; touch "$library/../../../../waits"; sleep 5`
  const { left, code } = await fetching(waits, { end: 'SIGTERM' })
  expect([code === 0, left]).toEqual([false, []])
})
