// The node's end of files of backups: a socket to the controller for each question. It ends with its answer, and the
// work for it ends when the controller closes it, because nobody waits any more.
import { Compile } from 'typebox/compile'
import type { Identity } from '../controller-link/identity.ts'
import { openSession } from '../controller-link/session-socket.ts'
import { type BackupFiles, NoFileSystem, type OpenFile } from '../drivers/backup/files.ts'
import { failureOf, wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import { type FilesRequest, type FromFiles, ToFiles } from '../protocol/backup.ts'
import { CONSOLE_WINDOW_BYTES } from '../protocol/console.ts'
import { agentHeaders, agentPaths } from '../protocol/wire.ts'

/** Each question may hold a window of bytes and a program that reads. */
const MOST_QUESTIONS = 12
const ASK_MS = 10_000
const PIECE_BYTES = 128 << 10

const isToFiles = Compile(ToFiles)

export class FilesLink {
  private questions = 0

  constructor(private files: BackupFiles) {}

  /** Answers one question. Never throws: a failure is told to the controller, or logged where that is away. */
  async open(session: string, identity: Identity): Promise<void> {
    try {
      await this.answer(await openSession(identity, agentPaths.files, agentHeaders.files, session))
    } catch (error) {
      log('warning', 'a question about files of a backup could not be answered', { error: wordsOf(error) })
    }
  }

  /** Answers the question that comes over an open socket. Throws when none comes. */
  async answer(socket: QuestionSocket): Promise<void> {
    this.questions++
    await new Question(socket, this.files, this.questions > MOST_QUESTIONS).answered.finally(() => this.questions--)
  }
}

/** The part of a WebSocket that a question needs. */
export type QuestionSocket = {
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(code: number, reason: string): void
  addEventListener(type: 'message', heard: (event: { data: unknown }) => void): void
  addEventListener(type: 'close', closed: () => void): void
}

class Question {
  readonly answered: Promise<void>
  private over = new AbortController()
  private sent = 0
  private acked = 0
  private wake: (() => void) | undefined

  constructor(
    private socket: QuestionSocket,
    private files: BackupFiles,
    tooMany: boolean,
  ) {
    const asked = Promise.withResolvers<FilesRequest>()
    const timer = setTimeout(() => socket.close(1000, 'not asked'), ASK_MS)
    socket.addEventListener('message', ({ data }) => {
      const frame = typeof data === 'string' ? parsed(data) : undefined
      if (frame?.type === 'ack') this.ack(frame.bytes)
      else if (frame) asked.resolve(frame)
    })
    socket.addEventListener('close', () => {
      this.over.abort(new Error('nobody waits any more'))
      this.wake?.()
      asked.reject(new Error('the controller asked nothing'))
    })
    this.answered = asked.promise
      .finally(() => clearTimeout(timer))
      .then((request) => (tooMany ? this.tell({ type: 'failed', code: 'too_many' }) : this.answer(request)))
      .finally(() => socket.close(1000, 'answered'))
  }

  private async answer(request: FilesRequest) {
    try {
      if (request.type === 'read') await this.files.read(request, this.over.signal, (file) => this.give(file))
      else {
        this.tell({ type: 'listing', listing: await this.files.list(request) })
      }
    } catch (error) {
      if (this.over.signal.aborted) return
      const { code } = failureOf(error)
      log('warning', 'files of a backup cannot be read', { snapshot: request.snapshot, error: wordsOf(error) })
      this.tell({ type: 'failed', code, ...(error instanceof NoFileSystem && { fileSystem: error.fileSystem }) })
    }
  }

  private async give({ sizeBytes, bytes }: OpenFile) {
    this.tell({ type: 'file', sizeBytes })
    for await (const chunk of bytes)
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) await this.piece(chunk.subarray(at, at + PIECE_BYTES))
    this.tell({ type: 'end' })
  }

  /** Waits while the viewer has not taken what was sent before. */
  private async piece(bytes: Uint8Array) {
    while (this.sent - this.acked >= CONSOLE_WINDOW_BYTES && !this.over.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.wake = resolve
      await promise
    }
    this.over.signal.throwIfAborted()
    this.sent += bytes.length
    this.socket.send(bytes as Uint8Array<ArrayBuffer>)
  }

  private ack(bytes: number) {
    this.acked = Math.min(this.sent, Math.max(this.acked, bytes))
    this.wake?.()
  }

  private tell(frame: FromFiles) {
    if (!this.over.signal.aborted) this.socket.send(JSON.stringify(frame))
  }
}

function parsed(text: string): ToFiles | undefined {
  try {
    const frame: unknown = JSON.parse(text)
    return isToFiles.Check(frame) ? frame : undefined
  } catch {
    return undefined
  }
}
