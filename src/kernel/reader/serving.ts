// The reader: answers long reads on a connection of its own that only reads. It works for one read after another, a
// piece at a time, so a short file does not wait for a long one.
import { system } from '../api/actor.ts'
import { ApiError } from '../api/errors.ts'
import { lookUp } from '../api/gate.ts'
import { type AppContext, type Operation, unknownClient } from '../api/operation.ts'
import { macsWith } from '../crypto/passing-keys.ts'
import { type Db, read } from '../db/open.ts'
import { nodesAt } from '../nodes/contact.ts'
import { placeIn } from './place.ts'
import type { FromReader, Question, ToReader } from './protocol.ts'

/** The reader has these of the controller, and nothing else of the context of an operation. */
export type AtReader = Pick<AppContext, 'registry' | 'brandFor' | 'renderedRows'>

/** Text is gathered to this much before it is sent: each message costs both threads a turn. */
const PIECE_BYTES = 64_000

type File = { text: Iterator<string>; wanted: number; isAtWork: boolean }

/** Answers what `heard` is called with by `say`, which may take the bytes of a piece over. */
export function serveReads(db: Db, has: AtReader, say: (message: FromReader, bytes?: ArrayBuffer) => void) {
  const files = new Map<number, File>()
  const encoder = new TextEncoder()
  const failed = (id: number, error: unknown) => {
    files.delete(id)
    if (error instanceof ApiError) {
      const { code, message, details } = error
      return say({ id, type: 'refused', code, message, details })
    }
    say({ id, type: 'broke', stack: String((error as Error)?.stack ?? error) })
  }

  async function ask(id: number, question: Question) {
    const op = has.registry.operations.find((one) => one.id === question.operation)
    if (!op?.atReader) throw new Error(`the reader has no operation ${question.operation}`)
    const call = callOf(db, has, op, question)
    say({ id, type: 'turn' })
    if (op.prepare) return say({ id, type: 'value', value: await op.prepare(call) })
    if (!op.produces) {
      const made = read(db, () => op.run(call) as object)
      return say({ id, type: 'page', json: JSON.stringify(made), place: placeIn(made) })
    }
    const text = read(db, () => op.run(call) as Iterable<string>)
    files.set(id, { text: text[Symbol.iterator](), wanted: 0, isAtWork: false })
    say({ id, type: 'begun' })
  }

  /** Makes the pieces that are wanted; between two of them others have their turn. */
  async function make(id: number, file: File) {
    file.isAtWork = true
    while (file.wanted > 0 && files.has(id)) {
      file.wanted--
      say({ id, type: 'turn' })
      const { text, isLast } = nextPiece(file.text)
      const bytes = encoder.encode(text)
      if (bytes.length) say({ id, type: 'piece', bytes }, bytes.buffer)
      if (isLast) {
        files.delete(id)
        say({ id, type: 'end' })
      }
      await Bun.sleep(0)
    }
    file.isAtWork = false
  }

  return {
    heard(message: ToReader) {
      const { id, type } = message
      if (type === 'ask') return void ask(id, message.question).catch((error) => failed(id, error))
      const file = files.get(id)
      if (!file) return
      if (type === 'end') {
        files.delete(id)
        file.text.return?.()
      } else {
        file.wanted++
        if (!file.isAtWork) void make(id, file).catch((error) => failed(id, error))
      }
    },
  }
}

function nextPiece(text: Iterator<string>): { text: string; isLast: boolean } {
  let made = ''
  while (made.length < PIECE_BYTES) {
    const { done, value } = text.next()
    if (done) return { text: made, isLast: true }
    made += value
  }
  return { text: made, isLast: false }
}

/** The call as the gate makes it, of what a reader has. To ask for anything else is a mistake of the operation. */
function callOf(db: Db, has: AtReader, op: Operation, question: Question): any {
  const { actor = system, params, query, body, now, contact, cursorKeys } = question
  const missing = () => {
    throw new Error(`${op.id} is read by the reader, which changes nothing`)
  }
  const call = {
    ...has,
    secrets: macsWith({ cursor: cursorKeys }),
    clock: () => now,
    wallClock: () => now,
    nodes: only(nodesAt(contact), op),
    actor,
    params,
    query,
    pages: op.pages,
    body,
    client: unknownClient,
    setCookie: missing,
    tx: db,
    db,
    target: read(db, (tx) => lookUp(op, tx, actor, params)),
    prepared: undefined,
  }
  return only(call, op)
}

function only<T extends object>(there: T, { id }: Operation): T {
  return new Proxy(there, {
    get(all, name) {
      if (typeof name === 'string' && !(name in all))
        throw new Error(`${id} is read by the reader, which has no "${name}" of the controller`)
      return Reflect.get(all, name)
    },
  })
}
