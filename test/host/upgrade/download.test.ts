// Root fetches a release at an address: from a server with a certificate of its own authority, which breaks off, leads
// elsewhere, sends something else, too much or too slowly.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { ReleaseRefused } from '../../../agent/protocol/release/manifest.ts'
import type { Machine } from '../../../host/machine/machine.ts'
import { UpgradeRefused } from '../../../host/upgrade/prepare.ts'
import { downloaded, downloadLimits, forgetDownload } from '../../../host/upgrade/release/download.ts'
import { temporary } from '../../agent/temporary.ts'
import { newKey, writeRelease } from '../../release/signed.ts'
import { issued } from '../../support/services/certificate.ts'
import { machineWith } from '../stand-in.ts'

const dir = temporary('download')
const authority = issued(join(dir, 'tls'), 'localhost')
writeFileSync(join(dir, 'authorities.crt'), authority.ca)
const [ours, stranger] = [newKey(), newKey()]
const madeBy = (by: typeof ours) =>
  readFileSync(writeRelease(join(dir, `${by.key.id}.release`), { by, version: '9.1.0', programBytes: 900_000 }))
const [release, forged] = [madeBy(ours), madeBy(stranger)]
const tagOf = (bytes: Buffer) => `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`

type Answer = (request: { headers: Headers }, n: number) => Response
let answer: Answer
const asked: string[] = []
/** As Bun's own server does not: a body that ends with an error breaks the connection off. */
const server = createServer({ cert: authority.cert, key: authority.key }, async (request, to) => {
  const headers = new Headers(request.headers as Record<string, string>)
  asked.push(headers.get('range') ?? headers.get('if-none-match') ?? 'all')
  const response = answer({ headers }, asked.length)
  to.writeHead(response.status, Object.fromEntries(response.headers))
  try {
    for await (const chunk of response.body ?? []) to.write(chunk)
    to.end()
  } catch {
    request.socket.destroy()
  }
})
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
afterAll(() => void server.close())
const { port } = server.address() as { port: number }
const url = `https://localhost:${port}/berth.release`

/** A server of files as they all are: parts where the file is still the one that the client has. */
const serves =
  (file: Buffer): Answer =>
  ({ headers }) => {
    const tag = tagOf(file)
    if (headers.get('if-none-match') === tag) return new Response(null, { status: 304 })
    const from = Number(/^bytes=(\d+)-$/.exec(headers.get('range') ?? '')?.[1] ?? 0)
    if (!from || headers.get('if-range') !== tag) return new Response(file as BodyInit, { headers: { ETag: tag } })
    const range = { ETag: tag, 'Content-Range': `bytes ${from}-${file.length - 1}/${file.length}` }
    return new Response(file.subarray(from) as BodyInit, { status: 206, headers: range })
  }
/** The first answer has all of the file in its head, and breaks off before the end. */
const breaksOff =
  (file: Buffer, bytes: number, then: Answer): Answer =>
  (request, n) => {
    if (n > 1) return then(request, n)
    const body = new ReadableStream({
      async pull(controller) {
        controller.enqueue(file.subarray(0, bytes))
        await Bun.sleep(300)
        controller.error(new Error('the server ends'))
      },
    })
    return new Response(body, { headers: { ETag: tagOf(file), 'Content-Length': String(file.length) } })
  }

const quick = { ...downloadLimits, pauseMs: 10, answerMs: 2000, windowMs: 500, tries: 2 }
let machine: Machine
beforeEach(() => {
  const made = machineWith()
  const root = temporary('download')
  machine = { ...made, paths: { ...made.paths, library: root, authorities: join(dir, 'authorities.crt') } }
  asked.length = 0
})
const folder = () => `${machine.paths.library}/upgrade/berth`
const fetched = (address = url, limits: Partial<typeof downloadLimits> = {}) =>
  downloaded(machine, address, [ours.key], { ...quick, ...limits })
/** The code of the refusal, and its words. */
async function refusal(address?: string, limits?: Partial<typeof downloadLimits>): Promise<[string, string]> {
  try {
    await fetched(address, limits)
  } catch (error) {
    if (error instanceof UpgradeRefused || error instanceof ReleaseRefused) return [error.code, error.message]
    throw error
  }
  throw new Error('it was not refused')
}
const nothingIsLeft = () =>
  expect([existsSync(`${folder()}/fetched`), existsSync(`${folder()}/fetched.json`)]).toEqual([false, false])

describe('a release at an address', () => {
  test('is fetched whole', async () => {
    answer = serves(release)
    expect(readFileSync(await fetched()).equals(release)).toBe(true)
    expect(asked).toEqual(['all'])
  })
  test('is fetched on from where it broke off, in one call', async () => {
    answer = breaksOff(release, 300_000, serves(release))
    expect(readFileSync(await fetched()).equals(release)).toBe(true)
    expect(asked).toEqual(['all', expect.stringMatching(/^bytes=[1-9]\d*-$/)])
  })
  test('is fetched on from where it broke off, in the next call, and not again when it is there', async () => {
    answer = breaksOff(release, 300_000, () => new Response(null, { status: 503 }))
    expect(await refusal()).toEqual(['download_failed', expect.stringContaining('answers 503')])
    answer = serves(release)
    asked.length = 0
    expect(readFileSync(await fetched()).equals(release)).toBe(true)
    expect(asked).toEqual([expect.stringMatching(/^bytes=[1-9]\d*-$/)])
    expect(readFileSync(await fetched()).equals(release)).toBe(true)
    expect(asked.at(-1)).toBe(tagOf(release))
    forgetDownload(machine)
    nothingIsLeft()
  })
  test('that was replaced meanwhile is fetched from its beginning', async () => {
    const later = readFileSync(
      writeRelease(join(dir, 'later.release'), { by: ours, version: '9.2.0', programBytes: 500_000 }),
    )
    answer = breaksOff(release, 300_000, serves(later))
    expect(readFileSync(await fetched()).equals(later)).toBe(true)
  })
  test('that a stranger signed ends at its signature', async () => {
    answer = serves(forged)
    expect((await refusal())[0]).toBe('release_key_not_trusted')
    nothingIsLeft()
  })
  test('is refused where it leads elsewhere, and the other address is not asked', async () => {
    answer = () => new Response(null, { status: 302, headers: { Location: 'https://localhost:1/other' } })
    expect(await refusal()).toEqual(['download_refused', expect.stringContaining('leads to https://localhost:1/other')])
    expect(asked).toEqual(['all'])
    nothingIsLeft()
  })
  test('is refused by name without encryption, with a password in it, and of another kind', async () => {
    for (const address of [`http://127.0.0.1:${port}/a`, 'https://u:p@localhost/a', 'ftp://localhost/a'])
      expect((await refusal(address))[0]).toBe('download_refused')
    expect(asked).toEqual([])
  })
  test('is refused where nothing is, and not asked for again', async () => {
    answer = () => new Response('no', { status: 404 })
    expect(await refusal()).toEqual(['download_failed', expect.stringContaining('answers 404')])
    expect(asked).toEqual(['all'])
  })
  test('of a server whose certificate nobody here trusts is not fetched', async () => {
    answer = serves(release)
    writeFileSync(join(dir, 'others.crt'), issued(join(dir, 'others'), 'localhost').ca)
    machine.paths.authorities = join(dir, 'others.crt')
    expect(await refusal()).toEqual(['download_failed', expect.stringMatching(/certificate|verif/i)])
    expect(asked).toEqual([])
  })
  test('that is too large is refused before it is read, and one that grows on the way when it does', async () => {
    answer = serves(release)
    expect((await refusal(url, { mostBytes: 500_000 }))[0]).toBe('download_refused')
    answer = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            controller.enqueue(new Uint8Array(release.subarray(0, 200_000)))
            await Bun.sleep(1)
          },
        }),
      )
    expect(await refusal(url, { mostBytes: 1_000_000 })).toEqual([
      'download_refused',
      expect.stringContaining('sends more'),
    ])
    nothingIsLeft()
  })
  test('of a server that does not answer, or sends too slowly, ends', async () => {
    let opened = 0
    answer = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            opened++
            await Bun.sleep(200)
            controller.enqueue(new Uint8Array(10))
          },
        }),
      )
    expect(await refusal()).toEqual(['download_failed', expect.stringContaining('too slowly')])
    expect(opened).toBeGreaterThan(0)
    expect(asked).toHaveLength(2)
  })
})
