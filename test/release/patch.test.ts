// A patch between two programs: how it is made, and what a node does with one that somebody else made.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { applyPatch, makePatch, PatchRefused } from '../../agent/protocol/release/patch.ts'

/** The same bytes in every run. */
function bytesFrom(seed: string, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, n) =>
    createHash('sha256').update(`${seed} ${n}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const streamOf = (bytes: Uint8Array) => new Blob([bytes as BlobPart]).stream()

const program = bytesFrom('program', 3_000_000)
const others: Record<string, Buffer> = {
  'the same': program,
  'with one byte changed': Buffer.concat([program.subarray(0, 7), Buffer.from('x'), program.subarray(8)]),
  'with some bytes more in front': Buffer.concat([bytesFrom('more', 1000), program]),
  'with some bytes less': Buffer.concat([program.subarray(0, 1_000_000), program.subarray(1_000_077)]),
  'with parts in another order': Buffer.concat([program.subarray(2_000_000), program.subarray(0, 2_000_000)]),
  'with a part twice': Buffer.concat([program, program.subarray(0, 500_000)]),
  'with zeros': Buffer.concat([program, Buffer.alloc(500_000)]),
  'of nothing but new bytes': bytesFrom('another', 300_000),
  'shorter than a block': Buffer.from('short'),
  'without a byte': Buffer.alloc(0),
}

async function applied(patch: Uint8Array, before: Buffer, after: { sizeBytes: number; sha256: string }) {
  const from = {
    sizeBytes: before.length,
    sha256: sha256(before),
    read: (offset: number, length: number) => before.subarray(offset, offset + length),
  }
  const parts: Uint8Array[] = []
  let made = 0
  for await (const part of applyPatch(streamOf(patch), from, after)) {
    made += part.length
    expect(made).toBeLessThanOrEqual(after.sizeBytes)
    expect(part.length).toBeLessThanOrEqual(1 << 20)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
const aimOf = (after: Buffer) => ({ sizeBytes: after.length, sha256: sha256(after) })

describe('a patch', () => {
  for (const [what, after] of Object.entries(others))
    test(`makes a program ${what}, and takes it back`, async () => {
      for (const [from, to] of [
        [program, after],
        [after, program],
      ] as const) {
        const patch = await makePatch(from, to)
        expect((await applied(patch, from, aimOf(to))).equals(to)).toBe(true)
      }
    })
  test('has little more than what is new', async () => {
    const sizes: Record<string, number> = {}
    for (const [what, after] of Object.entries(others)) sizes[what] = (await makePatch(program, after)).length
    expect(sizes['the same']).toBeLessThan(150)
    for (const what of [
      'with one byte changed',
      'with some bytes less',
      'with parts in another order',
      'with a part twice',
    ])
      expect(sizes[what]).toBeLessThan(250)
    expect(sizes['with some bytes more in front']).toBeLessThan(1300)
    expect(sizes['with zeros']).toBeLessThan(1000)
  })
  test('is the same whoever makes it', async () => {
    const [after] = [others['with some bytes less']!]
    expect((await makePatch(program, after)).equals(await makePatch(program, after))).toBe(true)
  })
})

describe('a patch of a stranger', () => {
  const before = program.subarray(0, 100_000)
  const after = Buffer.concat([before.subarray(0, 50_000), bytesFrom('new', 200), before.subarray(50_000)])
  /** The error where it is refused, else the program that was made. */
  const outcome = (patch: Uint8Array, aim = aimOf(after)) => applied(patch, before, aim).catch((error: Error) => error)
  const header = (from = before, to = after) =>
    Buffer.concat([Buffer.from('BERTHPATCH1\n'), Buffer.from(sha256(from) + sha256(to), 'hex')])
  const instructing = (...bytes: number[]) => Buffer.concat([header(), gzipSync(Buffer.from(bytes))])
  const refused = (words: string) => Object.assign(new PatchRefused(words), {})

  test('that was cut or altered anywhere makes nothing that is taken for the program', async () => {
    const patch = await makePatch(before, after)
    let refusals = 0
    for (let at = 0; at < patch.length; at++) {
      const cut = await outcome(patch.subarray(0, at))
      expect(cut instanceof Error).toBe(true)
      const altered = Buffer.from(patch)
      altered[at]! ^= 0x10
      const made = await outcome(altered)
      // Gzip has fields that nothing depends on.
      if (!(made instanceof Error)) expect(made.equals(after)).toBe(true)
      else refusals++
    }
    expect(refusals).toBeGreaterThan(patch.length - 20)
  })
  test('for another program is refused before anything is read', async () => {
    const patch = await makePatch(before, after)
    expect(await outcome(await makePatch(program, after))).toEqual(refused('it is a patch of another program'))
    expect(await outcome(patch, aimOf(before))).toEqual(refused('it makes another program'))
    expect(await outcome(gzipSync(after))).toBeInstanceOf(Error)
  })
  test('that would fill a disk is refused', async () => {
    // A range of 65,535 bytes of the program before, again and again.
    const range = [0, 0xff, 0xff, 3]
    const again = [...range, 0xfd, 0xff, 7]
    const bomb = instructing(...range, 0, ...Array.from({ length: 5000 }, () => again).flat())
    expect(bomb.length).toBeLessThan(1000)
    expect(await outcome(bomb)).toEqual(refused('it makes more than the program'))
    expect(await outcome(instructing(0xff, 0xff, 0xff, 0x7f))).toEqual(refused('it makes more than the program'))
  })
  test('that takes what is before or behind the program is refused', async () => {
    expect(await outcome(instructing(0, 5, 1))).toEqual(refused('it takes what is not there'))
    expect(await outcome(instructing(0, 0xa1, 0x8d, 6, 0))).toEqual(refused('it takes what is not there'))
    expect(await outcome(instructing(0, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))).toEqual(
      refused('it has a number that is too large'),
    )
  })
  test('that makes less is refused', async () =>
    expect(await outcome(instructing(0, 5, 0))).toEqual(refused('it makes less than the program')))
})
