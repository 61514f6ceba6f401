// The blocks of a disk and their hashes: what two disks have in common need not be sent, and two disks with the same
// hashes have the same content.
import type { NbdClient } from './client.ts'

/** Each block has one hash: 32 bytes for a mebibyte. */
export const BLOCK_BYTES = 1 << 20
export const HASH_BYTES = 32
/** Reads that are under way at a time. */
const AHEAD = 8
/** Blocks whose state is asked for at once, and whose hashes are kept together. */
const RUN_BLOCKS = 1024
/** The last run, which may be shorter, is not kept. */
export const RUN_HASHES_BYTES = RUN_BLOCKS * HASH_BYTES

const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher('sha256').update(bytes).digest()
const zeroHashes = new Map<number, Buffer>()
function hashOfZeros(bytes: number): Buffer {
  const known = zeroHashes.get(bytes) ?? sha256(Buffer.alloc(bytes))
  zeroHashes.set(bytes, known)
  return known
}

export const blocksOf = (sizeBytes: number) => Math.ceil(sizeBytes / BLOCK_BYTES)
/** The last block may be shorter. */
export const lengthOf = (block: number, sizeBytes: number) => Math.min(BLOCK_BYTES, sizeBytes - block * BLOCK_BYTES)

/**
 * The numbers of the blocks from `from` on, a multiple of a run, in which something else than zeros may be. Some of
 * them may be zeros all the same.
 */
export async function* dataBlocks(disk: NbdClient, from = 0): AsyncGenerator<number[]> {
  const { sizeBytes } = disk
  for (let first = from; first < blocksOf(sizeBytes); first += RUN_BLOCKS) {
    const offset = first * BLOCK_BYTES
    const extents = await disk.extents(offset, Math.min(RUN_BLOCKS * BLOCK_BYTES, sizeBytes - offset))
    const found = new Set<number>()
    for (const extent of extents)
      if (!extent.isZero)
        for (let at = block(extent.offset); at <= block(extent.offset + extent.length - 1); at++) found.add(at)
    yield [...found]
  }
}

const block = (offset: number) => Math.floor(offset / BLOCK_BYTES)

/** The bytes of the blocks with data. */
export async function dataBytes(disk: NbdClient): Promise<number> {
  let bytes = 0
  for await (const blocks of dataBlocks(disk)) for (const each of blocks) bytes += lengthOf(each, disk.sizeBytes)
  return bytes
}

/** The hashes of the first runs of a disk, kept over a start of the agent. */
export type KeptHashes = { read(): Buffer; add(hashes: Buffer): void }

/**
 * The hash of every block, one behind the other. `onBlocks`: told how many of all are done. Holes are not read, nor are
 * the blocks whose hashes are kept.
 */
export async function hashesOf(
  disk: NbdClient,
  onBlocks: (done: number) => void = () => {},
  kept?: KeptHashes,
): Promise<Buffer> {
  const { sizeBytes } = disk
  const count = blocksOf(sizeBytes)
  const hashes = Buffer.alloc(count * HASH_BYTES)
  for (let at = 0; at < count; at++) hashOfZeros(lengthOf(at, sizeBytes)).copy(hashes, at * HASH_BYTES)
  const before = kept?.read() ?? Buffer.alloc(0)
  let runs = Math.floor(before.length / RUN_HASHES_BYTES)
  before.copy(hashes, 0, 0, runs * RUN_HASHES_BYTES)
  for await (const blocks of dataBlocks(disk, runs * RUN_BLOCKS)) {
    await inOrder(blocks, async (at) => {
      sha256(await disk.read(at * BLOCK_BYTES, lengthOf(at, sizeBytes))).copy(hashes, at * HASH_BYTES)
    })
    kept?.add(hashes.subarray(runs * RUN_HASHES_BYTES, (runs + 1) * RUN_HASHES_BYTES))
    onBlocks(Math.min(count, ++runs * RUN_BLOCKS))
  }
  return hashes
}

/** The hashes of these blocks, one behind the other. */
export async function hashesAt(disk: NbdClient, blocks: readonly number[]): Promise<Buffer> {
  const hashes = Buffer.alloc(blocks.length * HASH_BYTES)
  await inOrder([...blocks.entries()], async ([i, at]) => {
    sha256(await disk.read(at * BLOCK_BYTES, lengthOf(at, disk.sizeBytes))).copy(hashes, i * HASH_BYTES)
  })
  return hashes
}

/** Runs `work` for each, a few at a time. The first that fails ends it. */
export async function inOrder<T>(all: readonly T[], work: (one: T) => Promise<void>) {
  const waiting = all.values()
  const worker = async () => {
    for (const one of waiting) await work(one)
  }
  await Promise.all(Array.from({ length: AHEAD }, worker))
}

/** The checksum of a disk with these hashes. */
export const checksumOf = (hashes: Buffer) => sha256(hashes).toString('hex')

/** The numbers of the blocks whose hashes differ. */
export function* differing(ours: Buffer, theirs: Buffer): Generator<number> {
  for (let at = 0; at * HASH_BYTES < ours.length; at++) {
    const [from, to] = [at * HASH_BYTES, (at + 1) * HASH_BYTES]
    if (ours.compare(theirs, from, to, from, to) !== 0) yield at
  }
}

export const hashAt = (hashes: Buffer, at: number) => hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)
/** The block at this place has `length` bytes. */
export const isZeros = (hashes: Buffer, at: number, length: number) => hashAt(hashes, at).equals(hashOfZeros(length))
