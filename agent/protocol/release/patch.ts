// A patch: how one program is made of another. Two releases on one Bun have some 110 of 130 MB in common, so it is a
// tenth of the compressed program or less.
//
//   12 bytes  `BERTHPATCH1\n`
//   32, 32    SHA-256 of the program before, and of the one after
//   the rest  instructions, compressed by gzip: each has a length and so many new bytes, then a length and where that
//             many bytes begin in the program before, counted from the end of the range before it. Numbers are LEB128,
//             the last one with its sign in the lowest bit.
//
// To apply it takes the memory of a chunk. Nothing of it is believed: the manifest has the checksum of the result.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createGzip } from 'node:zlib'
import { Incoming } from './incoming.ts'

const MAGIC = Buffer.from('BERTHPATCH1\n')
const HASH_BYTES = 32
const HEADER_BYTES = MAGIC.length + 2 * HASH_BYTES
/** Equal ranges are found that have a block of the program before in them. */
const BLOCK_BYTES = 16
/** Eight million places, which take 32 MiB while a patch is made. */
const TABLE_BITS = 23
/** After so many bytes others have their turn while a patch is made: some ten milliseconds. */
const TURN_BYTES = 256 << 10
/** More new bytes become several instructions. */
const MOST_NEW_BYTES = 64 << 10
const CHUNK_BYTES = 1 << 20

/** It is no patch, it is for another program, or it makes more than it should. */
export class PatchRefused extends Error {}

/** Multiplier of the rolling hash: the prime of FNV-1. */
const PRIME = 0x01000193
/** The weight of the first byte of a block in its hash. */
const FIRST = Array.from({ length: BLOCK_BYTES - 1 }).reduce((power: number) => Math.imul(power, PRIME), 1)
const mixed = (hash: number, byte: number) => (Math.imul(hash, PRIME) + byte) | 0
const placeOf = (hash: number) => Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> (32 - TABLE_BITS)
function hashAt(bytes: Uint8Array, at: number): number {
  let hash = 0
  for (let n = 0; n < BLOCK_BYTES; n++) hash = mixed(hash, bytes[at + n]!)
  return hash
}

const othersTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The first place of each block. Many are equal, such as those of zeros; ranges that follow are found anyway. */
async function blocksOf(before: Uint8Array): Promise<Int32Array> {
  const table = new Int32Array(1 << TABLE_BITS).fill(-1)
  for (let at = 0; at + BLOCK_BYTES <= before.length; at += BLOCK_BYTES) {
    const place = placeOf(hashAt(before, at))
    if (table[place] === -1) table[place] = at
    if (at % TURN_BYTES === 0) await othersTurn()
  }
  return table
}

function equalBytes(before: Uint8Array, from: number, after: Uint8Array, at: number): number {
  const most = Math.min(before.length - from, after.length - at, TURN_BYTES)
  let n = 0
  while (n < most && before[from + n] === after[at + n]) n++
  return n
}

/** A range of the program after that is in the program before, too. */
type Range = { at: number; from: number; length: number }

/** Undefined now and then: others may have their turn. */
function* rangesOf(table: Int32Array, before: Uint8Array, after: Uint8Array): Generator<Range | undefined> {
  let newFrom = 0
  let follows = 0
  let hash: number | undefined
  let turnAt = 0
  for (let at = 0; at + BLOCK_BYTES <= after.length; ) {
    if (at >= turnAt) {
      turnAt = at + TURN_BYTES
      yield undefined
    }
    hash ??= hashAt(after, at)
    // Where a range was changed without getting longer, the next one follows at its place.
    const next = follows + at - newFrom
    let from = table[placeOf(hash)]!
    let length = from < 0 ? 0 : equalBytes(before, from, after, at)
    const lengthThere = equalBytes(before, next, after, at)
    if (lengthThere >= length) {
      from = next
      length = lengthThere
    }
    if (length < BLOCK_BYTES) {
      hash = mixed((hash - Math.imul(after[at]!, FIRST)) | 0, after[at + BLOCK_BYTES] ?? 0)
      at++
      continue
    }
    let earlier = 0
    while (at - earlier > newFrom && from > earlier && before[from - earlier - 1] === after[at - earlier - 1]) earlier++
    yield { at: at - earlier, from: from - earlier, length: length + earlier }
    at += length
    newFrom = at
    follows = from + length
    hash = undefined
  }
}

/** Compresses the instructions, in parts that are worth a call. */
class Packing {
  private zip = createGzip({ level: 9 })
  private parts: Buffer[] = []
  private buffer = Buffer.alloc(4 * MOST_NEW_BYTES)
  private filled = 0
  private ended = Promise.withResolvers<void>()

  constructor() {
    this.zip.on('data', (part: Buffer) => this.parts.push(part))
    this.zip.on('end', this.ended.resolve)
    this.zip.on('error', this.ended.reject)
  }
  add(bytes: Uint8Array) {
    if (this.filled + bytes.length > this.buffer.length) this.flush()
    this.buffer.set(bytes, this.filled)
    this.filled += bytes.length
  }
  /** LEB128. */
  addNumber(value: number) {
    if (this.filled + 8 > this.buffer.length) this.flush()
    for (; value >= 128; value = Math.floor(value / 128)) this.buffer[this.filled++] = (value % 128) | 128
    this.buffer[this.filled++] = value
  }
  private flush() {
    this.zip.write(Buffer.from(this.buffer.subarray(0, this.filled)))
    this.filled = 0
  }
  /** Waits until zlib has taken all that was added, so that nothing piles up. */
  async caughtUp() {
    if (this.zip.writableNeedDrain) await once(this.zip, 'drain')
    else await othersTurn()
  }
  async end(): Promise<Buffer[]> {
    this.flush()
    this.zip.end()
    await this.ended.promise
    return this.parts
  }
}

async function hashOf(bytes: Uint8Array): Promise<Buffer> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += TURN_BYTES) {
    hash.update(bytes.subarray(at, at + TURN_BYTES))
    await othersTurn()
  }
  return hash.digest()
}

/**
 * The patch that makes `after` of `before`: some two seconds for two programs, in which others have their turn. Both
 * may be files that are mapped into memory.
 */
export async function makePatch(before: Uint8Array, after: Uint8Array): Promise<Buffer> {
  const table = await blocksOf(before)
  const packing = new Packing()
  let [newFrom, follows] = [0, 0]
  const add = (newTo: number, from: number, length: number) => {
    for (; newTo - newFrom > MOST_NEW_BYTES; newFrom += MOST_NEW_BYTES) instruct(newFrom + MOST_NEW_BYTES, 0, 0)
    instruct(newTo, length, from - follows)
    newFrom = newTo + length
    follows = from + length
  }
  const instruct = (newTo: number, length: number, away: number) => {
    packing.addNumber(newTo - newFrom)
    packing.add(after.subarray(newFrom, newTo))
    packing.addNumber(length)
    packing.addNumber(away < 0 ? -2 * away - 1 : 2 * away)
  }
  for (const range of rangesOf(table, before, after))
    if (range) add(range.at, range.from, range.length)
    else await packing.caughtUp()
  if (newFrom < after.length) add(after.length, follows, 0)
  return Buffer.concat([MAGIC, await hashOf(before), await hashOf(after), ...(await packing.end())])
}

/** The program before, of which any part can be read. */
export type Before = { sizeBytes: number; sha256: string; read(offset: number, length: number): Uint8Array }

/**
 * The program that a patch makes, in chunks. Throws `PatchRefused`, also before more than `after.sizeBytes` come; the
 * checksum of what came is the caller's to check.
 */
export async function* applyPatch(
  patch: ReadableStream<Uint8Array>,
  before: Before,
  after: { sizeBytes: number; sha256: string },
): AsyncGenerator<Uint8Array> {
  const incoming = new Incoming(patch)
  const header = await incoming.take(HEADER_BYTES)
  const hashIn = (n: number) =>
    Buffer.from(header.subarray(MAGIC.length + n * HASH_BYTES, MAGIC.length + (n + 1) * HASH_BYTES)).toString('hex')
  if (!MAGIC.equals(header.subarray(0, MAGIC.length))) throw new PatchRefused('it is no patch')
  if (hashIn(0) !== before.sha256) throw new PatchRefused('it is a patch of another program')
  if (hashIn(1) !== after.sha256) throw new PatchRefused('it makes another program')
  const instructions = new Incoming(incoming.rest().pipeThrough(new DecompressionStream('gzip') as never))
  let [made, follows] = [0, 0]
  while (!(await instructions.isAtEnd())) {
    const newLength = await numberOf(instructions)
    if (newLength > MOST_NEW_BYTES || made + newLength > after.sizeBytes) throw tooLong()
    made += newLength
    if (newLength) yield await instructions.take(newLength)
    const length = await numberOf(instructions)
    const away = await numberOf(instructions)
    const from = follows + (away % 2 ? -(away + 1) / 2 : away / 2)
    if (made + length > after.sizeBytes) throw tooLong()
    if (from < 0 || from + length > before.sizeBytes) throw new PatchRefused('it takes what is not there')
    made += length
    follows = from + length
    for (let at = 0; at < length; at += CHUNK_BYTES) yield before.read(from + at, Math.min(CHUNK_BYTES, length - at))
  }
  if (made !== after.sizeBytes) throw new PatchRefused('it makes less than the program')
}

const tooLong = () => new PatchRefused('it makes more than the program')

/** Up to 2^42, which is beyond every file and within the safe integers. */
async function numberOf(incoming: Incoming): Promise<number> {
  let [value, factor] = [0, 1]
  for (let n = 0; n < 6; n++, factor *= 128) {
    const byte = await incoming.byte()
    value += (byte % 128) * factor
    if (byte < 128) return value
  }
  throw new PatchRefused('it has a number that is too large')
}
