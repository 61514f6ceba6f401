// The blocks of a disk, and a hash of each. The kept map says what has arrived, and stays over a kill of the agent.
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'

/** SHA-1, which every source has. It finds errors; the source could give any bytes anyway. */
export const HASH_BYTES = 20
export const hashOf = (bytes: Uint8Array) => new Bun.CryptoHasher('sha1').update(bytes).digest()

const LEAST_BLOCK_BYTES = 64 << 10
/** Of a larger disk the blocks are larger, so that its map stays below 80 MB. */
const MOST_BLOCKS = 4 << 20
export function blockBytesOf(sizeBytes: number): number {
  let bytes = LEAST_BLOCK_BYTES
  while (sizeBytes / bytes > MOST_BLOCKS) bytes *= 2
  return bytes
}
/** The last block may be shorter. */
export const lengthOf = (block: number, blockBytes: number, sizeBytes: number) =>
  Math.min(blockBytes, sizeBytes - block * blockBytes)

/** Blocks from `first` on. */
export type BlockRun = { first: number; count: number }

/** A hash for each block; one that is not known is 20 bytes of zeros, which no block has. */
export class BlockMap {
  #hashes: Buffer
  #zeros = new Map<number, Buffer>()

  constructor(
    readonly sizeBytes: number,
    readonly blockBytes: number,
    hashes?: Buffer,
  ) {
    this.#hashes = Buffer.alloc(this.blocks * HASH_BYTES)
    hashes?.copy(this.#hashes)
  }

  get blocks() {
    return Math.ceil(this.sizeBytes / this.blockBytes)
  }
  get bytes(): Buffer {
    return this.#hashes
  }
  lengthOf = (block: number) => lengthOf(block, this.blockBytes, this.sizeBytes)
  at = (block: number) => this.#hashes.subarray(block * HASH_BYTES, (block + 1) * HASH_BYTES)
  isKnown = (block: number) => !UNKNOWN.equals(this.at(block))

  /** `hashes`: null for blocks of zeros. */
  set(first: number, count: number, hashes: Buffer | null) {
    if (hashes) return void hashes.copy(this.#hashes, first * HASH_BYTES)
    for (let block = first; block < first + count; block++) this.#zerosOf(block).copy(this.#hashes, block * HASH_BYTES)
  }
  forget(first: number, count: number) {
    this.#hashes.fill(0, first * HASH_BYTES, (first + count) * HASH_BYTES)
  }
  isZeros = (block: number) => this.at(block).equals(this.#zerosOf(block))
  isSame = (block: number, other: BlockMap) => this.at(block).equals(other.at(block))

  #zerosOf(block: number): Buffer {
    const length = this.lengthOf(block)
    const known = this.#zeros.get(length) ?? hashOf(Buffer.alloc(length))
    this.#zeros.set(length, known)
    return known
  }

  /** The runs of blocks for which `holds`. */
  runs(holds: (block: number) => boolean, from = 0, to = this.blocks): BlockRun[] {
    const found: BlockRun[] = []
    for (let block = from; block < to; block++) {
      if (!holds(block)) continue
      const last = found.at(-1)
      if (last && last.first + last.count === block) last.count++
      else found.push({ first: block, count: 1 })
    }
    return found
  }

  /** Keeps it. It would survive a power failure. */
  keep(path: string) {
    const part = `${path}.part`
    writeFileSync(part, this.#hashes, { mode: 0o600 })
    sync(part)
    renameSync(part, path)
  }

  /** Writes in the kept map that these blocks are not known, before they are written. */
  forgetKept(path: string, runs: readonly BlockRun[]) {
    const file = openSync(path, 'r+')
    try {
      for (const { first, count } of runs)
        writeSync(file, Buffer.alloc(count * HASH_BYTES), 0, count * HASH_BYTES, first * HASH_BYTES)
      fdatasyncSync(file)
    } finally {
      closeSync(file)
    }
  }

  /** The kept map of a disk of this size; undefined where it has another. */
  static kept(path: string, sizeBytes: number, blockBytes: number): BlockMap | undefined {
    if (!existsSync(path)) return undefined
    const hashes = readFileSync(path)
    const map = new BlockMap(sizeBytes, blockBytes, hashes)
    return hashes.length === map.bytes.length ? map : undefined
  }
}

const UNKNOWN = Buffer.alloc(HASH_BYTES)

function sync(path: string) {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
