// The copy of one file or device of a source into a sink. While its server runs, the bytes come in order, and are read
// back and hashed at the end. With the server off, the source tells its hashes; what differs, or has not come yet, is
// fetched, read back and compared.
import { Failure } from '../../../failure.ts'
import { sleep } from '../../../sleep.ts'
import type { Pace } from '../../transfer/pace.ts'
import { BlockMap, type BlockRun, HASH_BYTES, hashOf } from './block-map.ts'
import type { KeptPart } from './kept-copy.ts'
import type { Piece, SourceReader } from './reader.ts'
import type { Sink } from './sink.ts'

/** Writes and reads under way at a time. */
const AHEAD = 4
const READ_BYTES = 1 << 20
/** How far it has come is written so often. */
const KEEP_EVERY_BYTES = 64 << 20

/** `sink`: of the session. `keep`: writes `part`. `onBytes` gets the number of bytes that have been gone through. */
export type PartCopying = {
  part: KeptPart
  mapPath: string
  sink: Sink
  pace: Pace
  signal: AbortSignal
  keep(): void
  onBytes(doneBytes: number, totalBytes: number): void
}

/** Adds to the numbers of a pass. */
export type PartCopied = { copiedBytes: number; changedBlocks: number }

export class PartCopy {
  /** The hashes of what is here, and of what the source has; see `BlockMap`. */
  #own: BlockMap
  #source: BlockMap
  /** Blocks before it had come before this pass. */
  #arrivedBefore: number
  /** Nothing was written before this pass to blocks from it on. */
  #freshFrom: number
  /** All before it has come, in order. */
  #arrivedTo: number
  #writes = new Set<Promise<void>>()
  #failed: unknown
  #isKeeping = false
  readonly copied: PartCopied = { copiedBytes: 0, changedBlocks: 0 }

  constructor(
    private at: PartCopying,
    { sizeBytes, blockBytes }: Pick<SourceReader, 'sizeBytes' | 'blockBytes'>,
  ) {
    const { part, mapPath } = at
    const kept = part.isMapped ? BlockMap.kept(mapPath, part.sizeBytes, part.blockBytes) : undefined
    this.#source = new BlockMap(sizeBytes, blockBytes)
    this.#own = new BlockMap(sizeBytes, blockBytes)
    const arrived = Math.min(part.arrivedBytes, part.sizeBytes, sizeBytes)
    this.#arrivedBefore = arrived === sizeBytes ? this.#own.blocks : Math.floor(arrived / blockBytes)
    this.#arrivedTo = this.#arrivedBefore
    this.#freshFrom = Math.min(this.#own.blocks, Math.ceil(part.reachedBytes / blockBytes))
    this.#own.set(this.#freshFrom, this.#own.blocks - this.#freshFrom, null)
    if (kept && part.blockBytes === blockBytes) {
      // The last block of another size had another length.
      const same = part.sizeBytes === sizeBytes ? kept.blocks : Math.min(kept.blocks, this.#own.blocks) - 1
      kept.bytes.copy(this.#own.bytes, 0, 0, Math.max(0, Math.min(same, this.#arrivedBefore)) * HASH_BYTES)
    } else part.isMapped = false
    Object.assign(part, { sizeBytes, blockBytes, arrivedBytes: arrived })
    at.keep()
  }

  get blocks() {
    return this.#own.blocks
  }
  get #blockBytes() {
    return this.#own.blockBytes
  }

  /** Brings the rest, in order. Throws as the reader does, and `pool_full`. */
  async running(reader: SourceReader) {
    if (this.at.part.isMapped) return
    const first = this.#arrivedTo
    for await (const piece of reader.read([{ first, count: this.blocks - first }])) {
      await this.#paced(piece)
      await this.#put(piece)
      this.#advance(piece)
    }
    await this.settle()
  }

  /** Lets end what is under way, and keeps how far it is. Throws `pool_full`. */
  async settle() {
    await Promise.all(this.#writes)
    if (this.#failed) throw this.#failed
    // The program that serves a qcow2 disk forgets where its data is, unless it is flushed.
    await this.at.sink.flush()
    this.at.part.arrivedBytes = Math.max(this.at.part.arrivedBytes, this.#offsetOf(this.#arrivedTo))
    this.at.keep()
  }

  /** After the rest has come: reads it back, and keeps its hashes. */
  async mapRunning() {
    const { part, mapPath } = this.at
    if (part.isMapped) return
    await this.#readBack()
    this.#own.keep(mapPath)
    part.isMapped = true
    this.at.keep()
  }

  /** Hashes what had come before this pass and has no kept hash. */
  readBefore = () => this.#readBack()

  /** Called again after the connection broke, it goes on. Throws as the reader does, and `pool_full`. */
  async off(reader: SourceReader) {
    const { part, mapPath } = this.at
    const isUnknown = (block: number) => !this.#source.isKnown(block)
    for (const { first, count } of this.#source.runs(isUnknown, 0, this.#arrivedBefore))
      for await (const { hashes, ...piece } of reader.map(first, count)) {
        this.#source.set(piece.first, piece.count, hashes)
        this.#went(piece)
      }
    const rest = this.#source.runs(isUnknown, this.#arrivedBefore)
    for await (const piece of reader.read(rest)) {
      await this.#paced(piece)
      this.#source.set(piece.first, piece.count, piece.hashes)
      await this.#put(piece)
      this.#advance(piece)
    }
    const differ = this.#source.runs((block) => this.#own.isKnown(block) && !this.#own.isSame(block, this.#source))
    // Before the first of them is written: a crash leaves none that counts as known.
    if (part.isMapped && differ.length) this.#own.forgetKept(mapPath, differ)
    for await (const piece of reader.read(differ)) {
      await this.#paced(piece)
      this.#source.set(piece.first, piece.count, piece.hashes)
      await this.#put(piece)
    }
    await this.settle()
  }

  /** Reads back what has come, and compares all with the source. Throws `checksum_differs`. */
  async compare(path: string) {
    await this.#readBack()
    const [wrong] = this.#source.runs((block) => !this.#own.isSame(block, this.#source))
    if (wrong) throw new Failure('checksum_differs', `block ${wrong.first} of ${path} is not what the source has`)
  }

  #offsetOf = (block: number) => Math.min(this.#own.sizeBytes, block * this.#blockBytes)

  /** Writes a piece. Zeros where nothing was written before are there already. */
  async #put(piece: Piece) {
    const { first, hashes, data } = piece
    const fresh = hashes === null ? Math.max(first, this.#freshFrom) : first + piece.count
    const count = Math.min(piece.count, fresh - first)
    if (fresh < first + piece.count) this.#own.set(fresh, first + piece.count - fresh, null)
    if (count <= 0) return
    this.#own.forget(first, count)
    const offset = this.#offsetOf(first)
    const bytes = this.#offsetOf(first + count) - offset
    this.#reach(offset + bytes)
    this.copied.changedBlocks += count
    if (data) this.copied.copiedBytes += data.length
    const { sink } = this.at
    const written = (data ? sink.write(offset, data) : sink.writeZeroes(offset, bytes)).catch((error) => {
      this.#failed ??= error
    })
    this.#writes.add(written)
    void written.finally(() => this.#writes.delete(written))
    if (this.#writes.size >= AHEAD) await Promise.race(this.#writes)
    if (this.#failed) throw this.#failed
  }

  /** Keeps how far is written before that is done. */
  #reach(toBytes: number) {
    const { part } = this.at
    if (toBytes <= part.reachedBytes) return
    part.reachedBytes = toBytes + KEEP_EVERY_BYTES
    this.at.keep()
  }

  #advance(piece: Piece) {
    this.#went(piece)
    this.#arrivedTo = piece.first + piece.count
    const { part } = this.at
    const arrivedBytes = this.#offsetOf(this.#arrivedTo)
    if (this.#isKeeping || arrivedBytes - part.arrivedBytes < KEEP_EVERY_BYTES) return
    this.#isKeeping = true
    // Writes that are under way are before it, and are not there yet.
    void this.#keepArrived([...this.#writes], arrivedBytes).finally(() => {
      this.#isKeeping = false
    })
  }

  async #keepArrived(writes: Promise<void>[], arrivedBytes: number) {
    const { part, sink } = this.at
    await Promise.all(writes)
    await sink.flush().catch((error) => {
      this.#failed ??= error
    })
    if (this.#failed) return
    part.arrivedBytes = Math.max(part.arrivedBytes, arrivedBytes)
    this.at.keep()
  }

  #went = ({ first, count }: Pick<Piece, 'first' | 'count'>) =>
    this.at.onBytes(this.#offsetOf(first + count), this.#own.sizeBytes)

  async #paced({ data }: Piece) {
    const { pace, signal } = this.at
    const waitMs = pace.after(data?.length ?? 0)
    if (waitMs > 0) await sleep(waitMs, AbortSignal.any([signal, pace.changed]))
  }

  /** The hashes of what is here and not known. */
  async #readBack() {
    const blocksOfRead = Math.max(1, Math.floor(READ_BYTES / this.#blockBytes))
    const wanted: BlockRun[] = []
    for (const { first, count } of this.#own.runs((block) => !this.#own.isKnown(block)))
      for (let at = first; at < first + count; at += blocksOfRead)
        wanted.push({ first: at, count: Math.min(blocksOfRead, first + count - at) })
    const waiting = wanted.values()
    const work = async () => {
      for (const run of waiting) {
        if (this.at.signal.aborted) throw new Failure('source_copy_ended', 'the copy was ended')
        await this.#hashHere(run)
      }
    }
    await Promise.all(Array.from({ length: AHEAD }, work))
  }

  async #hashHere({ first, count }: BlockRun) {
    const offset = this.#offsetOf(first)
    const bytes = await this.at.sink.read(offset, this.#offsetOf(first + count) - offset)
    const hashes = Array.from({ length: count }, (_, i) =>
      hashOf(bytes.subarray(i * this.#blockBytes, (i + 1) * this.#blockBytes)),
    )
    this.#own.set(first, count, Buffer.concat(hashes))
  }
}
