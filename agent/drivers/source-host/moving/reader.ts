// A disk at its source, which answers what it has, block by block.
import { Failure } from '../../../failure.ts'
import { type Conversation, converse } from '../../../host/exec.ts'
import { printable } from '../../../protocol/text.ts'
import type { SourceHost } from '../../../protocol/values/source-hosts.ts'
import { markOf, newNonce } from '../ssh/marks.ts'
import { beginSession, refusalOf, wordsFrom } from '../ssh/sign-in.ts'
import { type BlockRun, HASH_BYTES, hashOf, lengthOf } from './block-map.ts'
import { Incoming } from './incoming.ts'
import { readerScript } from './reader-script.ts'

const START_MS = 60_000
const END_MS = 2000
/** Greetings of a shell. */
const MOST_GREETING_LINES = 2000
const MOST_LINE_BYTES = 4096
const HEAD_BYTES = 13
/** Blocks that the shell maps before it reads those with data: what was just read is read again from memory. */
const SHELL_RUN_BLOCKS = 16
/** Runs of one request: a longer line would wait for the reader to take it. */
const RUNS_OF_REQUEST = 500

/** Blocks from `first` on. `hashes`: null where they are zeros. `data`: null where only hashes were asked for. */
export type Piece = { first: number; count: number; hashes: Buffer | null; data: Buffer | null }

/** The connection broke, or its session was ended: another one may go on. */
export class SessionBroken extends Error {}

export type Opening = {
  /** Of the keys of this node and its sessions. */
  dir: string
  host: SourceHost | null
  path: string
  blockBytes: number
  /** Nothing writes the disk. */
  isOff: boolean
  signal: AbortSignal
}

/** Every method throws `source_read_error`, `source_invalid` and `SessionBroken`. */
export class SourceReader {
  sizeBytes = 0
  blockBytes = 0
  kind: 'python' | 'shell' = 'python'
  hostKey: string | null = null

  private constructor(
    private talk: Conversation,
    private from: Incoming,
    private path: string,
    private stopped: () => Promise<void>,
  ) {}

  /** Ends it, and tells how it ended. Of one that does not end by itself the code is that of its killing. */
  async close() {
    this.talk.finish()
    const { code, tookMs } = await this.#itsEnd()
    await this.stopped()
    return { code, ms: tookMs }
  }

  get pid() {
    return this.talk.pid
  }
  get blocks() {
    return Math.ceil(this.sizeBytes / this.blockBytes)
  }

  /**
   * Throws `source_unreachable`, `source_host_key_changed`, `source_ssh_too_old`, `source_login_refused`,
   * `source_read_error`, `source_invalid` and `SessionBroken`.
   */
  static async open({ dir, host, path, blockBytes, isOff, signal }: Opening): Promise<SourceReader> {
    const session = host && beginSession(dir, host)
    const talk = session?.talk ?? converse('sh', [])
    const end = async () => {
      talk.stop()
      await talk.ended
    }
    const stop = () => talk.stop()
    signal.addEventListener('abort', stop, { once: true })
    const close = async () => {
      signal.removeEventListener('abort', stop)
      await (session?.close ?? end)()
    }
    const reader = new SourceReader(talk, new Incoming(talk.answers), path, close)
    const timer = setTimeout(stop, START_MS)
    try {
      const nonce = newNonce()
      talk.write(readerScript(nonce, path, blockBytes, isOff))
      await reader.#begin(markOf(nonce, 'reader'), host)
      reader.hostKey = session?.hostKey() ?? null
      return reader
    } catch (error) {
      await close()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #begin(mark: string, host: SourceHost | null) {
    for (let lines = 0; lines < MOST_GREETING_LINES; lines++) {
      const line = await this.from.line(MOST_LINE_BYTES)
      if (line === undefined) break
      if (line !== mark) continue
      const [, kind, block, size] =
        /^(python|shell) (\d{1,10}) (\d{1,16})$/.exec((await this.from.line(MOST_LINE_BYTES)) ?? '') ?? []
      if (!kind) break
      this.kind = kind as 'python' | 'shell'
      this.blockBytes = Number(block)
      this.sizeBytes = Number(size)
      return
    }
    const { code, err } = await this.#itsEnd()
    if (host && code === 255) {
      const refusal = refusalOf(host, err)
      throw new Failure('source_login_refused', `${host.address} does not let this node in: ${refusal}`)
    }
    if (code > 128 || code === 255) throw new SessionBroken(wordsFrom(err))
    throw new Failure('source_read_error', `${this.path} cannot be opened at byte 0: ${wordsFrom(err)}`)
  }

  /** The hashes of these blocks, in their order. */
  async *map(first: number, count: number): AsyncGenerator<Piece> {
    if (count <= 0) return
    if (this.kind === 'python') return yield* this.#answers(`map ${first} ${count}`)
    for (let at = first; at < first + count; at += SHELL_RUN_BLOCKS)
      yield* this.#shellMap(at, Math.min(SHELL_RUN_BLOCKS, first + count - at))
  }

  /** These blocks, in the order of the runs. */
  async *read(runs: readonly BlockRun[]): AsyncGenerator<Piece> {
    if (this.kind === 'python') {
      for (let at = 0; at < runs.length; at += RUNS_OF_REQUEST) {
        const some = runs.slice(at, at + RUNS_OF_REQUEST).map(({ first, count }) => `${first}:${count}`)
        yield* this.#answers(`read ${some.join(' ')}`)
      }
      return
    }
    for (const { first, count } of runs)
      for (let at = first; at < first + count; at += SHELL_RUN_BLOCKS) {
        const joined: Piece[] = []
        for await (const piece of this.#shellMap(at, Math.min(SHELL_RUN_BLOCKS, first + count - at))) {
          const last = joined.at(-1)
          if (!last?.hashes || !piece.hashes) joined.push(piece)
          else Object.assign(last, { count: last.count + 1, hashes: Buffer.concat([last.hashes, piece.hashes]) })
        }
        for (const piece of joined) yield piece.hashes ? await this.#shellRead(piece) : piece
      }
  }

  async *#answers(request: string): AsyncGenerator<Piece> {
    this.talk.write(`${request}\n`)
    for (;;) {
      const head = await this.#take(HEAD_BYTES)
      const [kind, number, count] = [
        head.toString('latin1', 0, 1),
        Number(head.readBigUInt64BE(1)),
        head.readUInt32BE(9),
      ]
      if (kind === 'F') return
      if (kind === 'E') throw this.#unreadable(number, (await this.#take(Math.min(count, 300))).toString())
      if (count === 0 || number + count > this.blocks) throw this.#odd()
      if (kind === 'Z') yield { first: number, count, hashes: null, data: null }
      else if (kind === 'H' || kind === 'D') {
        const hashes = await this.#take(count * HASH_BYTES)
        const bytes = kind === 'D' ? this.#bytesOf(number, count) : 0
        yield { first: number, count, hashes, data: kind === 'D' ? await this.#take(bytes) : null }
      } else throw this.#odd()
    }
  }

  async *#shellMap(first: number, count: number): AsyncGenerator<Piece> {
    this.talk.write(`map ${first} ${count}\n`)
    let at = first
    for (;;) {
      const line = await this.#line()
      if (line === '') break
      const hash = Buffer.from(/^([0-9a-f]{40}) /.exec(line)?.[1] ?? '', 'hex')
      if (hash.length !== HASH_BYTES || at >= first + count) throw this.#odd()
      const isZeros = hash.equals(hashOf(Buffer.alloc(lengthOf(at, this.blockBytes, this.sizeBytes))))
      yield { first: at++, count: 1, hashes: isZeros ? null : hash, data: null }
    }
    await this.#shellEnd(first, at - first, count)
  }

  async #shellRead(piece: Piece): Promise<Piece> {
    const { first, count } = piece
    const bytes = this.#bytesOf(first, count)
    this.talk.write(`read ${first} ${count} ${bytes}\n`)
    const data = await this.#take(bytes)
    if ((await this.#line()) !== '') throw this.#odd()
    await this.#shellEnd(first, count, count)
    return { ...piece, data }
  }

  async #shellEnd(first: number, found: number, wanted: number) {
    const [, code, size] = /^(\d{1,3}) (\d{1,16})$/.exec(await this.#line()) ?? []
    if (code === undefined) throw this.#odd()
    const at = (first + found) * this.blockBytes
    if (code !== '0') throw this.#unreadable(at, 'dd ended with an error')
    if (found !== wanted || Number(size) < Math.min(this.sizeBytes, at))
      throw this.#unreadable(Number(size), 'it ends there')
  }

  #bytesOf = (first: number, count: number) =>
    Math.min(this.sizeBytes, (first + count) * this.blockBytes) - first * this.blockBytes

  #odd = () => new Failure('source_invalid', `what reads ${this.path} at its source does not answer as it should`)
  #unreadable = (at: number, words: string) =>
    new Failure('source_read_error', `${this.path} cannot be read at byte ${at}: ${printable(words)}`)

  async #take(count: number): Promise<Buffer> {
    const taken = await this.from.take(count)
    if (!taken) throw await this.#broken()
    return taken
  }
  async #line(): Promise<string> {
    const line = await this.from.line(MOST_LINE_BYTES)
    if (line === undefined) throw await this.#broken()
    return line
  }
  #broken = async () => new SessionBroken(wordsFrom((await this.#itsEnd()).err))

  /** Of a session that says no more. It ends by itself; one that does not is killed. */
  #itsEnd() {
    const timer = setTimeout(() => this.talk.stop(), END_MS)
    return this.talk.ended.finally(() => clearTimeout(timer))
  }
}
