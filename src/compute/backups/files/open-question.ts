// One question about files of a backup: the socket that the node opens for it, and what waits for the answer. Bytes of
// a file pass through unread; the node is told only what has left, so no more than a window of them is ever here.
import type {
  BackupListing,
  FileSystem,
  FilesRequest,
  FromFiles as Frame,
  ToFiles,
} from '../../../../agent/protocol/backup.ts'
import { FromFiles } from '../../../../agent/protocol/backup.ts'
import { CONSOLE_ACK_BYTES, CONSOLE_WINDOW_BYTES } from '../../../../agent/protocol/console.ts'
import { MOST_FRAME_BYTES } from '../../../../agent/protocol/wire.ts'
import { fits } from '../../../kernel/api/validate.ts'
import { minute, second } from '../../../kernel/db/clock.ts'
import { log } from '../../../kernel/log.ts'
import { isModestJson } from '../../../kernel/modest-json.ts'
import type { ServerSocket, SocketHandler } from '../../../kernel/net/socket-endpoint.ts'

export type Times = { joinMs: number; answerMs: number; stallMs: number }
/**
 * The node has so long to open its socket, and to answer: a server ends a request on which nothing was sent for 30 s. A
 * viewer who takes nothing for `stallMs` has gone.
 */
export const usualTimes: Times = { joinMs: 8 * second, answerMs: 25 * second, stallMs: 2 * minute }
const MOST_NESTED = 8
const MOST_VALUES = 10_000

/** A question without its answer. `code` is one of the node, or `unreachable`, `slow` or `broke_off`. */
export class NoAnswer extends Error {
  constructor(
    readonly code: string,
    readonly fileSystem?: FileSystem,
  ) {
    super(code)
  }
}

export type File = { sizeBytes: number; bytes: ReadableStream<Uint8Array> }
export type Answer = { listing: BackupListing } | { file: File }

export class Question {
  private readonly first = Promise.withResolvers<Answer>()
  private socket: ServerSocket | undefined
  private hasJoined = false
  private isOver = false
  private timer: Timer
  private stall: Timer | undefined
  private expected = 0
  private received = 0
  private taken = 0
  private acked = 0
  private hasBegun = false
  private hasEnd = false
  private waiting: Uint8Array[] = []
  private wake: (() => void) | undefined
  private error: NoAnswer | undefined

  /** `ended` is called once. */
  constructor(
    private request: FilesRequest,
    private ended: () => void,
    private times: Times = usualTimes,
  ) {
    this.timer = setTimeout(() => this.fail('unreachable'), times.joinMs)
  }

  /** Rejects with `NoAnswer`. A file that breaks off later breaks its stream off. */
  get answer(): Promise<Answer> {
    return this.first.promise
  }

  /** The node's socket; undefined once there is one. */
  join(): SocketHandler | undefined {
    if (this.hasJoined || this.isOver) return undefined
    this.hasJoined = true
    return {
      opened: (socket) => {
        this.socket = socket
        if (this.isOver) return socket.close(1000, 'over')
        clearTimeout(this.timer)
        this.timer = setTimeout(() => this.fail('slow'), this.times.answerMs)
        socket.send(JSON.stringify(this.request))
      },
      message: (_, data) => (typeof data === 'string' ? this.hear(data) : this.take(data)),
      closed: () => !this.hasEnd && this.fail('broke_off'),
    }
  }

  fail(code: string, fileSystem?: FileSystem) {
    if (this.isOver) return
    this.error = new NoAnswer(code, fileSystem)
    this.first.reject(this.error)
    this.end()
    this.wake?.()
  }

  private end() {
    if (this.isOver) return
    this.isOver = true
    clearTimeout(this.timer)
    clearTimeout(this.stall)
    this.socket?.close(1000, 'over')
    this.ended()
  }

  private hear(text: string) {
    if (this.isOver) return
    const frame = parsed(text)
    if (!frame) return this.misbehaved()
    if (frame.type === 'failed') return this.fail(frame.code, frame.fileSystem)
    clearTimeout(this.timer)
    if (frame.type === 'listing' && this.request.type === 'list') {
      this.first.resolve({ listing: frame.listing })
      this.hasEnd = true
      return this.end()
    }
    if (frame.type === 'file' && this.request.type === 'read' && !this.hasBegun) return this.begin(frame.sizeBytes)
    if (frame.type !== 'end' || !this.hasBegun || this.received !== this.expected) return this.misbehaved()
    this.hasEnd = true
    this.wake?.()
  }

  private begin(sizeBytes: number) {
    this.hasBegun = true
    this.expected = sizeBytes
    const bytes = new ReadableStream<Uint8Array>(
      { pull: (stream) => this.pull(stream), cancel: () => this.end() },
      { highWaterMark: 0 },
    )
    this.expectViewer()
    this.first.resolve({ file: { sizeBytes, bytes } })
  }

  private take(data: Uint8Array) {
    if (this.isOver) return
    this.received += data.length
    const isTooMuch =
      this.received > this.expected || this.received - this.acked > CONSOLE_WINDOW_BYTES + MOST_FRAME_BYTES
    if (isTooMuch) return this.misbehaved()
    // The server may use the buffer of a message again.
    this.waiting.push(new Uint8Array(data))
    this.wake?.()
  }

  private async pull(stream: ReadableStreamDefaultController<Uint8Array>) {
    this.expectViewer()
    while (!this.waiting.length && !this.hasEnd && !this.error) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.wake = resolve
      clearTimeout(this.stall)
      await promise
      this.expectViewer()
    }
    const chunk = this.waiting.shift()
    if (chunk) {
      stream.enqueue(chunk)
      this.taken += chunk.length
      if (this.taken - this.acked >= CONSOLE_ACK_BYTES) this.ack()
    } else if (this.error) stream.error(this.error)
    else {
      stream.close()
      this.end()
    }
  }

  private expectViewer() {
    clearTimeout(this.stall)
    if (!this.isOver) this.stall = setTimeout(() => this.fail('broke_off'), this.times.stallMs)
  }

  private ack() {
    this.acked = this.taken
    const frame: ToFiles = { type: 'ack', bytes: this.acked }
    if (!this.isOver) this.socket?.send(JSON.stringify(frame))
  }

  private misbehaved() {
    log.warning('a node sent an answer about files of a backup that is none')
    this.fail('bad_answer')
  }
}

function parsed(text: string): Frame | undefined {
  if (!isModestJson(text, MOST_NESTED, MOST_VALUES)) return undefined
  try {
    const frame: unknown = JSON.parse(text)
    return fits(FromFiles, frame) ? (frame as Frame) : undefined
  } catch {
    return undefined
  }
}
