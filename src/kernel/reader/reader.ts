// The controller's end of long reads. One thread has the event loop and serves everybody, so a read that may take long
// is made by another one, which starts with the first of them and ends when there was none for a while. What a person
// asks for is limited in number, in time and in memory; a reader that ends fails its reads, and the next one starts
// another.
import { ApiError, type Code } from '../api/errors.ts'
import { minute, second } from '../db/clock.ts'
import { log } from '../log.ts'
import type { FromReader, Question, ReaderThread, StartReader } from './protocol.ts'

export type ReaderLimits = {
  /** Reads of one account that are made at once. */
  atOnce: number
  /** Further ones that wait for their end, and for how long. */
  waiting: number
  waitMs: number
  /** One statement, or the rows of one piece, takes at most so long. */
  turnMs: number
  /** A read that answers a value takes at most so long. */
  valueMs: number
  /** A client that takes no piece for so long is gone. */
  stalledMs: number
  /** So long after its last read the thread ends. */
  idleMs: number
  /** A smaller database is read at once: the start of the thread would take longer than any read of it. */
  fromBytes: number
}
export const readerLimits: ReaderLimits = {
  atOnce: 2,
  waiting: 6,
  waitMs: 20 * second,
  turnMs: 30 * second,
  valueMs: 2 * minute,
  stalledMs: 2 * minute,
  idleMs: minute,
  fromBytes: 64_000_000,
}
/** Pieces that are made before the client has taken those before them: about 64 kB each. */
const AHEAD = 3
const LOOK_EVERY_MS = 250

type Read = {
  id: number
  question: Question
  askedAt: number
  /** Settles the answer: a value, or that a file has begun. */
  answer: PromiseWithResolvers<unknown>
  file?: File
}

/** A file as its pieces come. */
class File implements AsyncIterator<Uint8Array<ArrayBuffer>, undefined> {
  private readonly pieces: Uint8Array<ArrayBuffer>[] = []
  private waiting: PromiseWithResolvers<IteratorResult<Uint8Array<ArrayBuffer>, undefined>> | undefined
  private end: { error?: unknown } | undefined
  /** When the client last took one; undefined while it waits for one. */
  idleSince: number | undefined = performance.now()
  constructor(
    private readonly more: () => void,
    private readonly left: () => void,
  ) {
    for (let n = 0; n < AHEAD; n++) more()
  }

  put(bytes: Uint8Array<ArrayBuffer>) {
    if (!this.waiting) return void this.pieces.push(bytes)
    this.taken()
    this.waiting.resolve({ done: false, value: bytes })
    this.waiting = undefined
  }
  /** Without an error: it is whole. */
  finish(end: { error?: unknown }) {
    this.end ??= end
    if (!this.waiting) return
    if ('error' in this.end) this.waiting.reject(this.end.error)
    else this.waiting.resolve({ done: true, value: undefined })
    this.waiting = undefined
  }
  async next() {
    const value = this.pieces.shift()
    if (value) {
      this.taken()
      return { done: false as const, value }
    }
    if (this.end && 'error' in this.end) throw this.end.error
    if (this.end) return { done: true as const, value: undefined }
    this.idleSince = undefined
    this.waiting = Promise.withResolvers()
    return this.waiting.promise
  }
  async return() {
    this.left()
    return { done: true as const, value: undefined }
  }
  private taken() {
    this.idleSince = performance.now()
    this.more()
  }
}

export class Reader {
  #thread: ReaderThread | undefined
  readonly #reads = new Map<number, Read>()
  readonly #places = new Map<string, { taken: number; waiting: (() => void)[] }>()
  #ids = 0
  /** The read for which the thread is at work, none before it is ready; undefined: it waits. */
  #turn: { id: number | undefined; since: number } | undefined
  #idleSince = 0
  #look: ReturnType<typeof setInterval> | undefined
  #isStopped = false

  constructor(
    private readonly start: StartReader,
    private readonly limits: ReaderLimits = readerLimits,
  ) {}

  isFor(databaseBytes: number): boolean {
    return databaseBytes >= this.limits.fromBytes
  }

  /**
   * Answers what the operation prepares, or its page. Throws what it throws, and `rate_limited`,
   * `not_possible`.
   */
  async value(account: string, question: Question): Promise<any> {
    const leave = await this.#place(account)
    try {
      return await this.#ask(question).answer.promise
    } finally {
      leave()
    }
  }

  /** The file of the operation, from when its first rows may be read. Throws as `value`; so does its iterator. */
  async file(account: string, question: Question): Promise<AsyncIterable<Uint8Array<ArrayBuffer>>> {
    const leave = await this.#place(account)
    try {
      const asked = this.#ask(question)
      await asked.answer.promise
      const { id } = asked
      if (!this.#reads.has(id)) throw disturbed()
      const file = new File(
        () => this.#thread && this.#reads.has(id) && this.#thread.send({ id, type: 'more' }),
        () => this.#over(id, {}, true),
      )
      asked.file = file
      this.#leaves.set(id, leave)
      return { [Symbol.asyncIterator]: () => file }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Ends the thread; what is still read fails. */
  stop() {
    this.#isStopped = true
    this.#endThread(() => stopped())
  }

  /** Of files, which are read on after `file` has answered. */
  readonly #leaves = new Map<number, () => void>()

  /** Resolves when this account may have one more, with what gives its place back. */
  async #place(account: string): Promise<() => void> {
    const { atOnce, waiting, waitMs } = this.limits
    const places = this.#places.get(account) ?? { taken: 0, waiting: [] }
    this.#places.set(account, places)
    if (places.taken >= atOnce) {
      if (places.waiting.length >= waiting) throw tooMany(places.taken + places.waiting.length)
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const mine = () => resolve(true)
      places.waiting.push(mine)
      const late = setTimeout(() => resolve(false), waitMs)
      const isMine = await promise
      clearTimeout(late)
      if (!isMine) {
        places.waiting.splice(places.waiting.indexOf(mine), 1)
        throw tooMany(places.taken)
      }
    } else places.taken++
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      // The place of who leaves is that of the next.
      const next = places.waiting.shift()
      if (next) return next()
      if (--places.taken === 0) this.#places.delete(account)
    }
  }

  #ask(question: Question): Read {
    if (this.#isStopped) throw stopped()
    this.#thread ??= this.#startThread()
    const id = ++this.#ids
    const read: Read = { id, question, askedAt: performance.now(), answer: Promise.withResolvers() }
    // An error is taken up by who waits for it; nobody does once a file has begun.
    read.answer.promise.catch(() => {})
    this.#reads.set(id, read)
    this.#thread.send({ id, type: 'ask', question })
    return read
  }

  #startThread(): ReaderThread {
    this.#turn = { id: undefined, since: performance.now() }
    this.#look ??= setInterval(() => this.#watch(), LOOK_EVERY_MS)
    this.#look.unref()
    const thread = this.start({
      heard: (message) => this.#thread === thread && this.#heard(message),
      ended: (why) => {
        if (this.#thread !== thread) return
        log.error('the reader of long reads ended by itself', { why, reads: this.#names() })
        this.#endThread(() => new Error(`the reader ended: ${why}`))
      },
    })
    return thread
  }

  #heard(message: FromReader) {
    if (message.type === 'ready') return void (this.#turn = undefined)
    const { id } = message
    const read = this.#reads.get(id)
    if (message.type === 'turn') return void (this.#turn = { id, since: performance.now() })
    this.#turn = undefined
    if (!read) return
    if (message.type === 'begun') return read.answer.resolve(undefined)
    if (message.type === 'piece') return read.file?.put(message.bytes)
    if (message.type === 'value') read.answer.resolve(message.value)
    if (message.type === 'page') read.answer.resolve(message)
    this.#over(id, message.type === 'refused' || message.type === 'broke' ? { error: errorOf(message) } : {})
  }

  /** `isLeft`: the reader does not know it yet. */
  #over(id: number, end: { error?: unknown }, isLeft = false) {
    const read = this.#reads.get(id)
    if (!read) return
    this.#reads.delete(id)
    if (isLeft) this.#thread?.send({ id, type: 'end' })
    if ('error' in end) read.answer.reject(end.error)
    if (read.file && 'error' in end)
      log.error('a file broke off', { operation: read.question.operation, error: end.error })
    read.file?.finish(end)
    this.#leaves.get(id)?.()
    this.#leaves.delete(id)
    this.#idleSince = performance.now()
  }

  /** The limits of time. */
  #watch() {
    const now = performance.now()
    const { turnMs, valueMs, stalledMs, idleMs } = this.limits
    for (const { id, file } of this.#reads.values())
      if (file?.idleSince !== undefined && now - file.idleSince > stalledMs)
        this.#over(id, { error: new Error('the client took nothing more') }, true)
    const late = [...this.#reads.values()].find(({ askedAt, file }) => !file && now - askedAt > valueMs)
    const long = this.#turn && now - this.#turn.since > turnMs ? this.#turn : undefined
    if (long || late) {
      const culprit = long ? long.id : late!.id
      log.error('a long read took too long: its reader is ended', {
        operation: culprit === undefined ? undefined : this.#reads.get(culprit)?.question.operation,
        reads: this.#names(),
      })
      this.#endThread((id) => (id === culprit ? tooLong() : disturbed()))
    } else if (!this.#reads.size && now - this.#idleSince > idleMs) this.#endThread(stopped)
  }

  /** Each read that goes on fails with `error`. */
  #endThread(error: (id: number) => Error) {
    this.#thread?.end()
    this.#thread = undefined
    this.#turn = undefined
    clearInterval(this.#look)
    this.#look = undefined
    for (const id of [...this.#reads.keys()]) this.#over(id, { error: error(id) })
  }

  #names = () => [...this.#reads.values()].map(({ question }) => question.operation)
}

const tooMany = (n: number) =>
  new ApiError('rate_limited', `${n} long reads of yours are not finished. Wait for their answers.`, {
    retryAfterSeconds: 5,
  })
const tooLong = () =>
  new ApiError('not_possible', 'This took too long and was ended. Ask for less: a shorter time, or more filters.')
const disturbed = () =>
  new ApiError('not_possible', 'Another read took too long, and this one ended with it. Try again.')
const stopped = () => new ApiError('not_possible', 'The controller is stopping. Ask again in a minute.')

function errorOf(message: FromReader & { type: 'refused' | 'broke' }): Error {
  if (message.type === 'refused') return new ApiError(message.code as Code, message.message, message.details)
  const error = new Error('a long read broke')
  error.stack = message.stack
  return error
}
