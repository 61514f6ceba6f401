// Questions of the controller and answers of its reader: plain values, because they pass between threads.
import type { Actor } from '../api/actor.ts'
import type { NodeContact } from '../nodes/contact.ts'
import type { Place } from './place.ts'

/** A call of an operation that is read `atReader`. The gate has let it through. */
export type Question = {
  operation: string
  /** Undefined: System, whose rights are no plain value. */
  actor: Actor | undefined
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  body: unknown
  /** The time of the whole read, in ms. */
  now: number
  contact: NodeContact
  /** It signs cursors with them, as the controller does, and has no other key. */
  cursorKeys: readonly string[]
}

/** `more`: one more piece of a file may be made. `end`: nobody wants the rest. */
export type ToReader = { id: number } & ({ type: 'ask'; question: Question } | { type: 'more' } | { type: 'end' })

/**
 * `turn`: from now on the reader works for this read and hears nothing. `begun`: a file, of which no piece is made yet.
 * `broke`: an error that is no refusal, as its stack.
 */
export type FromReader =
  | { type: 'ready' }
  | ({ id: number } & (
      | { type: 'turn' }
      | { type: 'value'; value: unknown }
      | { type: 'page'; json: string; place: Place | undefined }
      | { type: 'begun' }
      | { type: 'piece'; bytes: Uint8Array<ArrayBuffer> }
      | { type: 'end' }
      | { type: 'refused'; code: string; message: string; details: Record<string, unknown> }
      | { type: 'broke'; stack: string }
    ))

/** The controller's end of a thread with a reader. */
export type ReaderThread = {
  send(message: ToReader): void
  /** It ends when the statement at work has ended, and says nothing more. */
  end(): void
}
export type StartReader = (on: { heard(message: FromReader): void; ended(why: string): void }) => ReaderThread
