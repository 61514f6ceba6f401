// Releases at an address that staff set.
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { egressAcross, NoAnswer } from '../../../src/kernel/net/egress.ts'
import { downloadDue } from '../../../src/platform/updates/download.ts'
import type { Fetch } from '../../../src/platform/updates/fetch.ts'
import { writeRelease } from '../../release/signed.ts'
import { LATER, type Machine, machine, NEXT, ours, path, stranger } from './lab.ts'

const url = 'https://releases.example.com/berth-latest.release'
/** A server with one file, which counts what it is asked for. */
function server() {
  const asked: string[] = []
  let content: Buffer = Buffer.alloc(0)
  let failures = 0
  const fetch: Fetch = async (from, { from: at, most }) => {
    asked.push(`${from.href} ${at}`)
    if (failures-- > 0) throw new NoAnswer('releases.example.com did not answer within 30 s.')
    const body = content.subarray(at, at + most)
    return { status: 206, headers: { 'content-range': `bytes ${at}-${at + body.length - 1}/${content.length}` }, body }
  }
  return {
    asked,
    fetch,
    holds(made: Buffer) {
      content = made
    },
    fails(times: number) {
      failures = times
    },
  }
}
function releaseBytes(p: Machine, version: string, more: { by?: typeof ours; programBytes?: number } = {}) {
  const file = writeRelease(`${p.dir}/made.release`, { by: ours, version, ...more })
  const bytes = readFileSync(file)
  rmSync(file)
  return bytes
}
async function withAddress() {
  const at = server()
  const p = await machine({ updates: { fetch: at.fetch, keys: [ours.key] } })
  await p.admin('PUT', `${path}/source`, { url })
  return { p, at }
}
const look = (p: Machine) => p.admin('POST', `${path}/actions/look`)
const download = (p: Machine) => p.call(p.owner, 'POST', `${path}/actions/download`)
const advance = (p: Machine) => downloadDue({ db: p.db, app: p.controller.app })
const source = async (p: Machine) => (await p.shown()).source

describe('an address for releases', () => {
  test('is off by default, and nothing is asked for before somebody looks', async () => {
    const at = server()
    using p = await machine({ updates: { fetch: at.fetch, keys: [ours.key] } })
    expect((await source(p)).url).toBe(null)
    expect((await p.call(p.owner, 'POST', `${path}/actions/look`)).body.error.code).toBe('no_update_source')
    await p.admin('PUT', `${path}/source`, { url })
    await advance(p)
    await p.shown()
    expect(at.asked).toEqual([])
  })
  test('is one of the Internet or of a source that the operator allowed, and never of the platform', async () => {
    using p = await machine()
    for (const wrong of [
      'https://169.254.169.254/a',
      'https://127.0.0.1/a',
      'https://10.0.0.1/a',
      'https://u:p@a.example/',
    ]) {
      const { status } = await p.call(p.owner, 'PUT', `${path}/source`, { url: wrong })
      expect([wrong, status]).toEqual([wrong, 422])
    }
    expect((await source(p)).url).toBe(null)
    const status = async (who: any) => (await p.call(who, 'PUT', `${path}/source`, { url })).status
    expect(await status(p.staff(['nodes.read']))).toBe(403)
  })
  test('that is private is not asked for at a look either, when its name leads there only later', async () => {
    const { p } = await withAddress()
    using panel = p
    panel.controller.app.updates = Object.assign(Object.create(panel.controller.app.updates), {
      fetch: (to: URL, _: unknown, policy: Parameters<Fetch>[2]) =>
        egressAcross(0, to, policy, { lookUp: async () => [{ address: '10.0.0.7' }] }),
    })
    const { body } = await panel.call(panel.owner, 'POST', `${path}/actions/look`)
    expect(body.error.message).toContain('10.0.0.7')
    expect((await source(panel)).lookedAt).toBe(null)
  })
  test('tells the version by the beginning of the file alone', async () => {
    const { p, at } = await withAddress()
    using panel = p
    at.holds(releaseBytes(panel, NEXT, { programBytes: 300_000 }))
    await look(panel)
    expect(await source(panel)).toMatchObject({ version: NEXT, date: '2026-11-24', refused: null, lookedBy: 'System' })
    expect(at.asked).toEqual([`${url} 0`])
    expect(readdirSync(panel.incoming)).toEqual([])
  })
  test('whose release is forged, older or none says so, and offers no download', async () => {
    const { p, at } = await withAddress()
    using panel = p
    for (const [bytes, words] of [
      [releaseBytes(panel, NEXT, { by: stranger }), 'names the key'],
      [releaseBytes(panel, '0.0.9'), 'runs here'],
      [Buffer.from('<html>Not here</html>'), 'no release'],
    ] as const) {
      at.holds(bytes)
      await look(panel)
      expect((await source(panel)).refused).toContain(words)
      expect((await download(panel)).body.error.code).toBe('no_update_offered')
    }
    await advance(panel)
    expect(readdirSync(panel.incoming)).toEqual([])
  })
})

describe('a download', () => {
  test('puts the release into the folder, part by part, when all of it was verified', async () => {
    const { p, at } = await withAddress()
    using panel = p
    const bytes = releaseBytes(panel, NEXT, { programBytes: 9 << 20 })
    at.holds(bytes)
    await look(panel)
    expect((await download(panel)).status).toBe(202)
    expect((await source(panel)).download).toEqual({ version: NEXT, bytes: 0, totalBytes: bytes.length, error: null })
    expect((await download(panel)).body.error.code).toBe('update_under_way')
    at.fails(1)
    await advance(panel)
    expect(readFileSync(`${panel.incoming}/berth-${NEXT}.release`).equals(bytes)).toBe(true)
    expect(readdirSync(panel.incoming)).toEqual([`berth-${NEXT}.release`])
    expect(await panel.shown()).toMatchObject({ available: NEXT, source: { download: null } })
    expect(at.asked.filter((line) => line.endsWith(` ${4 << 20}`))).toHaveLength(1)
  })
  test('goes on where it was after a restart', async () => {
    const { p, at } = await withAddress()
    using panel = p
    const bytes = releaseBytes(panel, NEXT, { programBytes: 9 << 20 })
    at.holds(bytes)
    await look(panel)
    await download(panel)
    await Bun.write(`${panel.incoming}/berth-${NEXT}.release.part`, bytes.subarray(0, 5 << 20))
    at.asked.length = 0
    await advance(panel)
    expect(at.asked[0]).toBe(`${url} ${5 << 20}`)
    expect((await panel.shown()).available).toBe(NEXT)
  })
  test('of a file that is altered or exchanged on the way is refused, and leaves nothing', async () => {
    const { p, at } = await withAddress()
    using panel = p
    const bytes = releaseBytes(panel, NEXT)
    const altered = Buffer.from(bytes)
    altered[altered.length - 20_000]! ^= 1
    for (const [sent, words] of [
      [altered, 'not the one that its manifest names|cannot be unpacked'],
      [releaseBytes(panel, LATER, { programBytes: 60_000 }), 'replaced meanwhile'],
    ] as const) {
      at.holds(bytes)
      await look(panel)
      await download(panel)
      at.holds(sent)
      await advance(panel)
      expect((await source(panel)).download.error).toMatch(new RegExp(words))
      expect(readdirSync(panel.incoming)).toEqual([])
    }
    expect((await panel.shown()).available).toBe(null)
  })
  test.skipIf(process.getuid?.() !== 0)(
    'that fills the disk is removed, said, and made when there is space',
    async () => {
      const { p, at } = await withAddress()
      using panel = p
      at.holds(releaseBytes(panel, NEXT, { programBytes: 9 << 20 }))
      await look(panel)
      await download(panel)
      expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', panel.incoming]).exitCode).toBe(0)
      try {
        await advance(panel)
        expect((await source(panel)).download.error).toContain('is full')
        expect(readdirSync(panel.incoming)).toEqual([])
      } finally {
        Bun.spawnSync(['umount', panel.incoming])
      }
      await download(panel)
      await advance(panel)
      expect((await panel.shown()).available).toBe(NEXT)
    },
  )
  test('ends when the address is turned off', async () => {
    const { p, at } = await withAddress()
    using panel = p
    at.holds(releaseBytes(panel, NEXT))
    await look(panel)
    await download(panel)
    await panel.admin('PUT', `${path}/source`, { url: null })
    await advance(panel)
    expect([existsSync(`${panel.incoming}/berth-${NEXT}.release`), await source(panel)]).toMatchObject([
      false,
      { url: null, download: null, version: null },
    ])
  })
})
