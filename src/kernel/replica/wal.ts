// Reads committed pages from SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat). The
// controller is the only writer and reads between two transactions, so the end of the log stands still meanwhile.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** A point in the log right behind a commit. The checksum covers everything before it. */
export type WalPosition = { salt1: number; salt2: number; offset: number; sum0: number; sum1: number }

/** Pages as they are after the last commit that was read. `databasePages`: the size of the database then. */
export type WalChanges = { pages: Map<number, Buffer>; databasePages: number; pageSize: number }

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** With checksums of little-endian words, as all machines that Berth runs on write it. */
const MAGIC = 0x377f0682
/** Read at once: 1 MiB of frames. */
const FRAMES_AT_ONCE = 256

export class WalReader {
  #file: number | undefined
  #at: WalPosition | undefined
  /** The log was copied into the database as a whole, so its next transaction may begin it anew. */
  #mayBeginAnew = false

  constructor(private path: string) {}

  get position(): WalPosition | undefined {
    return this.#at
  }

  /** Bytes of the log that were read. */
  get offset(): number {
    return this.#at?.offset ?? 0
  }

  /** Call it right after a checkpoint that copied everything which was read, before the next transaction. */
  checkpointed() {
    this.#mayBeginAnew = true
  }

  /** Whether the log still has what led to this position; from there it is read on. */
  continueAt(position: WalPosition): boolean {
    const header = this.#header()
    if (!header || header.salt1 !== position.salt1 || header.salt2 !== position.salt2) return false
    if (position.offset > HEADER_BYTES) {
      const frame = Buffer.alloc(FRAME_HEADER_BYTES)
      const frameBytes = FRAME_HEADER_BYTES + header.pageSize
      if ((position.offset - HEADER_BYTES) % frameBytes) return false
      if (this.#read(frame, position.offset - frameBytes) < FRAME_HEADER_BYTES) return false
      const isCommit = frame.readUInt32BE(4) !== 0
      const isSame = frame.readUInt32BE(8) === position.salt1 && frame.readUInt32BE(12) === position.salt2
      const hasSum = frame.readUInt32BE(16) === position.sum0 && frame.readUInt32BE(20) === position.sum1
      if (!isCommit || !isSame || !hasSum) return false
    } else if (header.sum0 !== position.sum0 || header.sum1 !== position.sum1) return false
    this.#at = position
    this.#mayBeginAnew = false
    return true
  }

  /** Forgets where it was: what the log has now counts as read after this call. */
  skipToEnd() {
    this.#at = undefined
    this.#mayBeginAnew = false
    this.#collect(undefined)
  }

  /**
   * The pages that were committed since the last call. Undefined when the log lost some: somebody else has begun it
   * anew. `mostFrames` counts from the beginning of the log.
   */
  read(mostFrames = Infinity): WalChanges | undefined {
    const changes: WalChanges = { pages: new Map(), databasePages: 0, pageSize: 0 }
    return this.#collect(changes, mostFrames) ? changes : undefined
  }

  #collect(changes: WalChanges | undefined, mostFrames = Infinity): boolean {
    const header = this.#header()
    const before = this.#at
    if (!header) {
      // Empty: nothing was written since it was begun anew.
      return before === undefined || this.#mayBeginAnew
    }
    const isSame = before?.salt1 === header.salt1 && before.salt2 === header.salt2
    if (before && !isSame) {
      if (!this.#mayBeginAnew || header.salt1 !== (before.salt1 + 1) >>> 0) return false
    }
    const { pageSize, ...start } = header
    const from = isSame ? before! : { ...start, offset: HEADER_BYTES }
    if (!isSame) this.#mayBeginAnew = false
    this.#at = this.#frames(from, pageSize, changes, mostFrames)
    if (this.#at.offset > from.offset) this.#mayBeginAnew = false
    return true
  }

  /** Reads up to the last commit; answers the position behind it. */
  #frames(from: WalPosition, pageSize: number, changes: WalChanges | undefined, mostFrames: number): WalPosition {
    const frameBytes = FRAME_HEADER_BYTES + pageSize
    const end = HEADER_BYTES + mostFrames * frameBytes
    let committed = from
    let { sum0, sum1, offset } = from
    let open: [page: number, bytes: Buffer][] = []
    for (;;) {
      const buffer = Buffer.from(new ArrayBuffer(frameBytes * FRAMES_AT_ONCE))
      const frames = Math.floor(this.#read(buffer, offset) / frameBytes)
      const words = new Uint32Array(buffer.buffer)
      for (let i = 0; i < frames; i++) {
        const start = i * frameBytes
        if (offset + start >= end) return committed
        if (buffer.readUInt32BE(start + 8) !== from.salt1 || buffer.readUInt32BE(start + 12) !== from.salt2)
          return committed
        ;[sum0, sum1] = checksum(words, start / 4, 2, sum0, sum1)
        ;[sum0, sum1] = checksum(words, (start + FRAME_HEADER_BYTES) / 4, pageSize / 4, sum0, sum1)
        if (buffer.readUInt32BE(start + 16) !== sum0 || buffer.readUInt32BE(start + 20) !== sum1) return committed
        open.push([buffer.readUInt32BE(start), buffer.subarray(start + FRAME_HEADER_BYTES, start + frameBytes)])
        const databasePages = buffer.readUInt32BE(start + 4)
        if (!databasePages) continue
        committed = { salt1: from.salt1, salt2: from.salt2, offset: offset + start + frameBytes, sum0, sum1 }
        if (changes) {
          for (const [page, bytes] of open) changes.pages.set(page, bytes)
          Object.assign(changes, { databasePages, pageSize })
        }
        open = []
      }
      if (frames < FRAMES_AT_ONCE) return committed
      offset += frames * frameBytes
    }
  }

  #header(): (WalPosition & { pageSize: number }) | undefined {
    const header = Buffer.from(new ArrayBuffer(HEADER_BYTES))
    if (this.#read(header, 0) < HEADER_BYTES || header.readUInt32BE(0) !== MAGIC) return undefined
    const [sum0, sum1] = checksum(new Uint32Array(header.buffer), 0, 6, 0, 0)
    if (header.readUInt32BE(24) !== sum0 || header.readUInt32BE(28) !== sum1) return undefined
    const [pageSize, salt1, salt2] = [8, 16, 20].map((at) => header.readUInt32BE(at)) as [number, number, number]
    return { pageSize, salt1, salt2, offset: HEADER_BYTES, sum0, sum1 }
  }

  #read(into: Buffer, at: number): number {
    try {
      this.#file ??= openSync(this.path, 'r')
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOENT') return 0
      throw error
    }
    let length = 0
    for (let n: number; length < into.length; length += n) {
      n = readSync(this.#file, into, length, into.length - length, at + length)
      if (!n) break
    }
    return length
  }

  /** Of the log as a file, with what was committed before and copied. */
  fileBytes(): number {
    return this.#file === undefined ? 0 : fstatSync(this.#file).size
  }

  close() {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}

/** SQLite's checksum over `count` words from `start` on. */
function checksum(words: Uint32Array, start: number, count: number, sum0: number, sum1: number): [number, number] {
  let a = sum0
  let b = sum1
  for (let i = start; i < start + count; i += 2) {
    a = (a + words[i]! + b) >>> 0
    b = (b + words[i + 1]! + a) >>> 0
  }
  return [a, b]
}
