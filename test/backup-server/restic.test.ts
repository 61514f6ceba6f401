// The program with Debian's restic, over TLS, as an operator sets it up; and what `kill -9` leaves.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:tls'
import type { Subprocess } from 'bun'
import { selfSigned } from '../support/services/certificate.ts'
import { berth, freePort, program } from '../support/world/program.ts'

setDefaultTimeout(60_000)

const dir = mkdtempSync('/tmp/berth-restic-')
const root = `${dir}/backups`
const port = freePort()
let certificate: Awaited<ReturnType<typeof selfSigned>>
let password = ''
let server: Subprocess

const command = (...args: string[]) => berth(['backup-server', ...args, '--path', root])

/** Runs until it is killed; it answers when this returns. */
async function start() {
  const tls = ['--tls-cert', certificate.cert, '--tls-key', certificate.key]
  server = Bun.spawn([...program, 'backup-server', 'serve', '--path', root, '--listen', `0.0.0.0:${port}`, ...tls], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  while ((await status('/web/config')) === 0) await Bun.sleep(20)
}
const status = (path: string) =>
  fetch(`https://localhost:${port}${path}`, {
    headers: { Authorization: `Basic ${btoa(`web:${password}`)}` },
    tls: { ca: certificate.pem },
  }).then(
    (response) => response.status,
    () => 0,
  )

async function restic(args: string[], env: Record<string, string> = {}) {
  const run = Bun.spawn(['restic', '--cacert', certificate.cert, ...args], {
    env: {
      PATH: process.env['PATH']!,
      HOME: dir,
      RESTIC_REPOSITORY: `rest:https://web:${password}@localhost:${port}/web/`,
      RESTIC_PASSWORD: 'the customer',
      ...env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ])
  return { code, text: out + error }
}

beforeAll(async () => {
  certificate = await selfSigned(dir)
  const added = await command('add', 'web')
  expect([added.code, added.out]).toEqual([0, expect.stringMatching(/^[\w-]{43}$/)])
  password = added.out
  await start()
})
afterAll(async () => {
  server.kill()
  await server.exited
  rmSync(dir, { recursive: true, force: true })
})

test('restic sets up, backs up, checks, and gives back what it was given', async () => {
  mkdirSync(`${dir}/source`)
  writeFileSync(`${dir}/source/disk`, randomBytes(20_000_000))
  const done = async (...args: string[]) => {
    const { code, text } = await restic(args)
    expect([args[0], code, text]).toEqual([args[0], 0, expect.anything()])
    return text
  }
  await done('init')
  await done('backup', `${dir}/source`)
  expect(await done('check', '--read-data')).toContain('no errors were found')
  await done('restore', 'latest', '--target', `${dir}/restored`)
  expect(readFileSync(`${dir}/restored${dir}/source/disk`).equals(readFileSync(`${dir}/source/disk`))).toBe(true)
  const quota = async (size: string) => (await command('quota', 'web', '--quota', size)).code
  expect([await quota('1G'), await quota('much'), await quota('21.5M')]).toEqual([0, 2, 0])
  expect((await command('quota', 'web', '--repositories', '20')).error).toContain(
    '21.5 MiB, in 20 repositories at most',
  )
  expect((await command('list')).out).toMatch(/^web\t\S+\t[\d.]+ MiB\t21\.5 MiB\t1 of 20 repositories$/)
  expect(await quota('none')).toBe(0)
  // The folder is an ordinary repository for whoever owns it, and so backups are removed there.
  const pruned = await restic(['forget', '--keep-last', '1', '--prune'], { RESTIC_REPOSITORY: `${root}/web` })
  expect([pruned.code, pruned.text]).toEqual([0, expect.stringContaining('1 snapshots')])
})

describe('kill -9 in the middle of an upload', () => {
  const bytes = new Uint8Array(randomBytes(3_000_000))
  const name = createHash('sha256').update(bytes).digest('hex')
  const incoming = () => readdirSync(`${root}/.incoming`).map((file) => statSync(`${root}/.incoming/${file}`).size)

  test('leaves no half file, and the same upload works afterwards', async () => {
    const socket = connect({ port, host: '127.0.0.1', ca: certificate.pem, servername: 'localhost' })
    socket.on('error', () => {})
    const head = `Host: localhost\r\nAuthorization: Basic ${btoa(`web:${password}`)}\r\nContent-Length: ${bytes.length}`
    socket.write(`POST /web/data/${name} HTTP/1.1\r\n${head}\r\n\r\n`)
    socket.write(bytes.subarray(0, 2_000_000))
    while (!incoming().some((size) => size > 0)) await Bun.sleep(10)
    server.kill('SIGKILL')
    await server.exited
    socket.destroy()
    const inRepository = () => [...new Bun.Glob(`web/**/${name}*`).scanSync({ cwd: root, dot: true })]
    expect(inRepository()).toEqual([])
    await start()
    expect(incoming()).toEqual([])
    const again = await fetch(`https://localhost:${port}/web/data/${name}`, {
      method: 'POST',
      body: bytes,
      headers: { Authorization: `Basic ${btoa(`web:${password}`)}` },
      tls: { ca: certificate.pem },
    })
    expect(again.status).toBe(200)
    expect(inRepository()).toHaveLength(1)
    expect((await restic(['snapshots'])).code).toBe(0)
  })
})

describe('the command line', () => {
  test('makes, lists and removes logins, while the server runs', async () => {
    expect((await command('add', 'brief')).code).toBe(0)
    expect(await command('add', 'brief')).toMatchObject({ code: 1, error: expect.stringMatching(/^login_exists: /) })
    expect((await command('list')).out.split('\n').map((line) => line.split('\t')[0])).toEqual(['brief', 'web'])
    expect((await command('remove', 'brief')).code).toBe(0)
    expect(await command('remove', 'brief')).toMatchObject({
      code: 1,
      error: expect.stringContaining('no login brief'),
    })
    expect((await command('list')).out).toMatch(/^web\t/)
  })
  test.each(['../web', 'Web', 'data', '.hidden', ''])('refuses %p as a login', async (name) => {
    expect(await command('add', name)).toMatchObject({ code: 1, error: expect.stringContaining('cannot be a login') })
  })
  test('refuses a second server on the folder', async () => {
    const second = await command('serve', '--listen', `127.0.0.1:${freePort()}`)
    expect(second).toMatchObject({ code: 1, error: expect.stringContaining('already_running') })
  })
  test.each([
    [['serve', '--listen', '0.0.0.0:8000'], 'in the clear'],
    [['serve', '--listen', '[::]:8000'], 'in the clear'],
    [['serve', '--listen', '8000'], 'ADDRESS:PORT'],
    [['serve', '--tls-cert', '/etc/hostname'], 'go together'],
    [['serve', '--tls-cert', '/nowhere', '--tls-key', '/nowhere'], 'cannot be read'],
    [['serve', 'now'], 'takes no name'],
    [['list', '--listen', '127.0.0.1:1'], 'takes no --listen'],
    [['quota', 'web'], '--quota (a size like 500G, or none) or --repositories'],
    [['add', 'x', '--repositories', '0'], 'a whole number from 1'],
    [['add'], 'One name'],
    [['add', 'a', 'b'], 'One name'],
    [['prune'], 'no command "backup-server prune"'],
    [[], 'A command is missing'],
    [['add', 'x', '--force'], '--force'],
  ])('of wrong use says so: %p', async (args, words) => {
    expect(await command(...args)).toMatchObject({ code: 2, out: '', error: expect.stringContaining(words) })
  })
})
