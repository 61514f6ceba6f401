// Clears a card and puts a short load on it, and proves it clear. The proof runs in another process than the clearing:
// it gets the card as the next customer does, and looks at every byte of all memory that a program can get there.
import { randomInt } from 'node:crypto'
import { type CardRequest, type Chunk, type OpenCard, openCard } from './cuda.ts'
import type { Cleared, Proved } from './health.ts'

const SAMPLE_BYTES = 64 << 10
const SAMPLES_PER_CHUNK = 16
/** Bits that alternate, so that none that is stuck looks right by chance. */
const PATTERN = 0xa5a5a5a5
const LOAD_MS = 400
/** As much is copied from the card at a time: little enough that most of it is looked at in the processor's cache. */
const READ_BYTES = 4 * 2 ** 20
/** Compared at a time: these zeros stay in the processor's cache. */
const ZEROS = Buffer.alloc(64 << 10)

/** Writes a pattern to all memory of the card, looks at samples, takes its throughput, and fills it with zeros. */
export function clearCard(request: CardRequest): Cleared {
  const card = openCard(request)
  const totalBytes = card.memory().total
  const chunks = card.takeAll()
  const leftBytes = card.memory().free
  fill(card, chunks, PATTERN)
  const pattern = samplesOf(card, chunks, PATTERN)
  const memoryGBps = load(card, chunks)
  fill(card, chunks, 0)
  for (const chunk of chunks) card.give(chunk)
  return {
    totalBytes,
    clearedBytes: bytesOf(chunks),
    leftBytes,
    samples: pattern.samples,
    badSamples: pattern.bad,
    memoryGBps,
    peakGBps: card.peakGBps(),
  }
}

/** Reads all memory that a program can get, as it finds it. */
export function proveClear(request: CardRequest): Proved {
  const card = openCard(request)
  const totalBytes = card.memory().total
  const chunks = card.takeAll()
  const unclearBytes = unclearOf(card, chunks)
  for (const chunk of chunks) card.give(chunk)
  return { totalBytes, readBytes: bytesOf(chunks), unclearBytes }
}

/** Looks at every byte of these chunks. While one part is looked at, the next comes. */
export function unclearOf(card: OpenCard, chunks: readonly Chunk[]): number {
  const buffers = [card.hostBuffer(READ_BYTES), card.hostBuffer(READ_BYTES)]
  let unclear = 0
  let arriving: Buffer | undefined
  let n = 0
  for (const { address, bytes } of chunks)
    for (let offset = 0; offset < bytes; offset += READ_BYTES) {
      const next = buffers[n++ % 2]!.subarray(0, Math.min(READ_BYTES, bytes - offset))
      card.synchronize()
      card.beginRead(next, address + BigInt(offset))
      if (arriving) unclear += unclearIn(arriving)
      arriving = next
    }
  card.synchronize()
  return unclear + (arriving ? unclearIn(arriving) : 0)
}

/** The bytes of its blocks of 64 KiB in which something is not zero. Its length is a multiple of theirs. */
function unclearIn(part: Buffer): number {
  let unclear = 0
  for (let at = 0; at < part.length; at += ZEROS.length)
    if (part.compare(ZEROS, 0, ZEROS.length, at, at + ZEROS.length) !== 0) unclear += ZEROS.length
  return unclear
}

const bytesOf = (chunks: readonly Chunk[]) => chunks.reduce((sum, { bytes }) => sum + bytes, 0)

function fill(card: OpenCard, chunks: readonly Chunk[], word: number) {
  for (const chunk of chunks) card.fill(chunk, word)
  card.synchronize()
}

/** Shows that what is written arrives: the first and last part of each chunk, and some between by chance. */
function samplesOf(card: OpenCard, chunks: readonly Chunk[], word: number): { samples: number; bad: number } {
  const expected = Buffer.alloc(SAMPLE_BYTES, word & 0xff)
  const read = Buffer.alloc(SAMPLE_BYTES)
  let samples = 0
  let bad = 0
  for (const { address, bytes } of chunks) {
    const last = bytes - SAMPLE_BYTES
    const between = Array.from({ length: SAMPLES_PER_CHUNK }, () => randomInt(last / 4096 + 1) * 4096)
    for (const offset of [0, last, ...between]) {
      card.read(read, address + BigInt(offset))
      samples++
      if (!read.equals(expected)) bad++
    }
  }
  return { samples, bad }
}

/** Copies within the card for a while, and answers 10^9 bytes per second. Each byte is read once and written once. */
function load(card: OpenCard, chunks: readonly Chunk[]): number {
  const bytes = (chunks[0]?.bytes ?? 0) / 2
  const halves = chunks.filter((chunk) => chunk.bytes / 2 === bytes)
  if (!bytes) return 0
  const began = performance.now()
  let moved = 0
  do {
    for (const { address } of halves) card.copy(address + BigInt(bytes), address, bytes)
    card.synchronize()
    moved += 2 * bytes * halves.length
  } while (performance.now() - began < LOAD_MS)
  return Math.round(moved / 1e5 / (performance.now() - began)) / 10
}
