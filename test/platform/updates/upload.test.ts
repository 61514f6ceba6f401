// The file of a release that staff send from their browser, part by part.
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { audit } from '../../../src/kernel/audit/tables.ts'
import { writeRelease } from '../../release/signed.ts'
import { type Machine, machine, NEXT, ours, path, stranger } from './lab.ts'

const PART_BYTES = 3 << 20
const bytesOf = (p: Machine, more: Partial<Parameters<typeof writeRelease>[1]> = {}) =>
  readFileSync(writeRelease(`${p.dir}/made.release`, { by: ours, version: NEXT, ...more }))
const name = `berth-${NEXT}.release`

const sendPart = (p: Machine, bytes: Buffer, from: number, more: object = {}, who: any = p.owner) => {
  const content = bytes.subarray(from, from + PART_BYTES).toString('base64')
  return p.call(who, 'POST', `${path}/actions/upload`, { file: name, totalBytes: bytes.length, from, content, ...more })
}
/** As the page sends it. Answers the last response. */
async function send(p: Machine, bytes: Buffer) {
  for (let from = 0; ; ) {
    const { status, body } = await sendPart(p, bytes, from)
    if (status !== 200 || body.version !== null) return { status, body }
    from = body.bytes
  }
}

describe('a release file that is sent', () => {
  test('is in the folder and is offered when all of it is there and was verified', async () => {
    using p = await machine()
    const bytes = bytesOf(p, { programBytes: 7 << 20 })
    expect((await sendPart(p, bytes, 0)).body).toEqual({ bytes: PART_BYTES, version: null })
    expect((await p.shown()).available).toBe(null)
    expect((await send(p, bytes)).body).toEqual({ bytes: bytes.length, version: NEXT })
    expect(readFileSync(`${p.incoming}/${name}`).equals(bytes)).toBe(true)
    expect(readdirSync(p.incoming)).toEqual([name])
    expect((await p.shown()).available).toBe(NEXT)
    const lines = p.db.select().from(audit).all()
    const sent = lines.filter(({ operation }) => operation === 'updates.upload')
    expect(JSON.stringify(sent)).toContain(name)
    expect(JSON.stringify(sent).length).toBeLessThan(5000)
  })
  test('goes on where it broke off, and a part that does not fit changes nothing', async () => {
    using p = await machine()
    const bytes = bytesOf(p, { programBytes: 7 << 20 })
    await sendPart(p, bytes, 0)
    await sendPart(p, bytes, PART_BYTES)
    for (const from of [PART_BYTES, 5, 0]) expect((await sendPart(p, bytes, from)).body.bytes).toBe(2 * PART_BYTES)
    expect((await sendPart(p, bytes, 2 * PART_BYTES)).body.version).toBe(NEXT)
    expect(readFileSync(`${p.incoming}/${name}`).equals(bytes)).toBe(true)
  })
  test('of another file under the same name begins anew', async () => {
    using p = await machine()
    await sendPart(p, bytesOf(p, { programBytes: 7 << 20 }), 0)
    const other = bytesOf(p, { programBytes: 4 << 20 })
    expect((await sendPart(p, other, 0)).body.bytes).toBe(PART_BYTES)
    expect((await send(p, other)).body.version).toBe(NEXT)
    expect(readFileSync(`${p.incoming}/${name}`).equals(other)).toBe(true)
  })
  test('is refused in words at its first part, where a stranger signed it or it is no release', async () => {
    using p = await machine()
    for (const [bytes, words] of [
      [bytesOf(p, { by: stranger }), 'names the key'],
      [Buffer.from('<html>'.repeat(1000)), 'no tar'],
    ] as const) {
      const { status, body } = await send(p, bytes)
      expect([status, body.error.code]).toEqual([409, 'update_refused'])
      expect(body.error.message).toContain(words)
    }
    expect(readdirSync(p.incoming)).toEqual([])
  })
  test('is refused, and removed, where something in it was altered or it is longer than was said', async () => {
    using p = await machine()
    const altered = bytesOf(p, { programBytes: 4 << 20 })
    altered[altered.length - 30_000]! ^= 1
    expect((await send(p, altered)).body.error.code).toBe('update_refused')
    const bytes = bytesOf(p)
    expect((await sendPart(p, bytes, 0, { totalBytes: bytes.length - 1 })).body.error.message).toContain('longer')
    expect(readdirSync(p.incoming)).toEqual([])
  })
  test('has a name without a folder, a size with a limit, and a sender who may change settings', async () => {
    using p = await machine()
    const bytes = bytesOf(p)
    for (const more of [
      { file: '../x.release' },
      { file: 'x' },
      { totalBytes: 2 ** 31 },
      { content: 'A'.repeat(4_194_400) },
    ])
      expect([more, (await sendPart(p, bytes, 0, more)).status].at(-1)).toBeOneOf([413, 422])
    expect((await sendPart(p, bytes, 0, {}, p.staff(['nodes.read']))).status).toBe(403)
    expect([existsSync(`${p.dir}/upgrade/x.release`), readdirSync(p.incoming)]).toEqual([false, []])
  })
  test('takes the place of one that was given up', async () => {
    using p = await machine()
    await sendPart(p, bytesOf(p, { programBytes: 7 << 20 }), 0, { file: 'given-up.release' })
    expect((await send(p, bytesOf(p))).body.version).toBe(NEXT)
    expect(readdirSync(p.incoming)).toEqual([name])
  })
})
