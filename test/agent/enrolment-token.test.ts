// The enrolment token makes a machine a node: while it is used, no list of processes shows it.
import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentPaths, type EnrollRequest } from '../../agent/protocol/wire.ts'
import { dataDir } from './run.ts'

const ENTRY = join(import.meta.dir, 'berth-agent.ts')
const TOKEN = 'enr_Kq0dY4Sxw2mV8tZr1LbJ7nHcU5fGpAeW3iOaT6yBsDE'

/** The command lines of all processes of this machine. */
const commandLines = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return '' // it has ended
      }
    })

let seen: string[] = []
let got: string[] = []
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (new URL(request.url).pathname !== agentPaths.enroll) return new Response(null, { status: 404 })
    const { token, facts } = (await request.json()) as EnrollRequest
    got.push(token)
    seen = commandLines()
    return Response.json({ nodeId: 'nod_1', name: facts.hostname })
  },
})
afterAll(() => server.stop(true))

async function enroll(flags: string[], input = '') {
  ;[seen, got] = [[], []]
  const url = `http://127.0.0.1:${server.port}`
  const child = Bun.spawn(
    [process.execPath, ENTRY, 'enroll', '--controller', url, '--data-dir', dataDir(), '--fake', ...flags],
    { stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' },
  )
  const [err, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  return { code, err, token: got[0] }
}
/** Of the agents of this machine, those of this file: tests run beside each other. */
const own = () => seen.filter((line) => line.includes(ENTRY) && line.includes(`http://127.0.0.1:${server.port}\0`))
const showing = () => seen.filter((line) => line.includes(TOKEN))

test('S33: an enrolment token from a file or standard input stands on no command line while it is used', async () => {
  const file = join(dataDir(), 'token')
  writeFileSync(file, `${TOKEN}\n`, { mode: 0o600 })
  for (const [flags, input] of [
    [['--token-file', file], ''],
    [['--token-file', '-'], TOKEN],
    [['--token-file', '-'], `${TOKEN}\n`],
  ] as const) {
    expect(await enroll([...flags], input)).toEqual({ code: 0, err: '', token: TOKEN })
    expect([own().length, showing()]).toEqual([1, []])
  }
})

test('S33: --token still works, and says that others can read it', async () => {
  const { code, err, token } = await enroll(['--token', TOKEN])
  expect([code, token]).toEqual([0, TOKEN])
  expect(err).toContain('every user of this machine can read --token in the list of processes')
  expect(showing().length).toBe(1)
})

test('an empty file, another text, or none is refused, and the controller is asked nothing', async () => {
  for (const [flags, input, words] of [
    [['--token-file', '/no/such/file'], '', 'no_token: /no/such/file cannot be read'],
    [['--token-file', '-'], '', 'no_token: standard input does not hold an enrolment token alone'],
    [['--token-file', '-'], 'two words', 'no_token: standard input does not hold an enrolment token alone'],
  ] as const) {
    const { code, err, token } = await enroll([...flags], input)
    expect([code, token]).toEqual([1, undefined])
    expect(err).toContain(words)
  }
  expect((await enroll([])).code).toBe(2)
  expect((await enroll(['--token', TOKEN, '--token-file', '-'])).code).toBe(2)
})

test('S33: install.sh hands the token on without a command line', async () => {
  const script = join(import.meta.dir, '../../install.sh')
  const dir = dataDir()
  // In place of the program: one that enrolls with what it is handed, as `berth host install` does.
  const url = `http://127.0.0.1:${server.port}`
  const enrolls = `enroll --controller ${url} --token-file - --data-dir '${dir}/data' --fake`
  writeFileSync(
    join(dir, 'berth'),
    `#!/bin/sh\necho "$@" >'${dir}/args'\nexec '${process.execPath}' '${ENTRY}' ${enrolls}\n`,
    { mode: 0o755 },
  )
  const made = `. <(sed '$d' '${script}'); log=/dev/null
    read_flags --agent --controller https://panel.example.com --token-file - --name n1
    collect_flags; run_program '${dir}/berth' install "--$mode" "\${collected[@]}"`
  ;[seen, got] = [[], []]
  const child = Bun.spawn(['bash', '-c', made], { stdin: Buffer.from(TOKEN), stdout: 'pipe', stderr: 'pipe' })
  expect(await child.exited).toBe(0)
  expect([got, showing()]).toEqual([[TOKEN], []])
  expect(await Bun.file(join(dir, 'args')).text()).toMatch(
    /^host install --agent --controller-url https:\/\/panel\.example\.com --name n1 --token-file - --source \S+ --log/,
  )
})
