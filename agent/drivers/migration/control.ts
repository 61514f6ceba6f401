// Questions of the source to the agent of the target, one line of JSON each, and an answer to each. Both ends belong to
// nodes that may be hostile: lines are short, answers are checked, and what is asked changes nothing but this
// migration.
import type { Duplex } from 'node:stream'
import { type Static, type TSchema, Type as t } from 'typebox'
import { Value } from 'typebox/value'
import { Failure, failureOf } from '../../failure.ts'

/** `copies`: the disks of the transfer, or none, because both nodes have them. */
export const copyModes = ['all', 'none'] as const
export type CopyMode = (typeof copyModes)[number]

export const Question = t.Union([
  /** Gets the target ready; the answer is its own definition of the vm. */
  t.Object({ ask: t.Literal('prepare'), copies: t.Enum([...copyModes]) }),
  /** When the guest stopped on the source, by the target's clock; null: its memory has not arrived. */
  t.Object({ ask: t.Literal('arrived') }),
  /** How the target has the vm; one whose memory still arrives counts as off. */
  t.Object({ ask: t.Literal('look') }),
])
export type Question = Static<typeof Question>

const mostLineBytes = 1 << 20
export const Prepared = t.Object({ definition: t.String({ maxLength: mostLineBytes }) })
export const Arrived = t.Object({ stoppedAt: t.Union([t.Number(), t.Null()]) })
const presences = ['running', 'paused', 'off', 'absent'] as const
export const Looked = t.Object({ presence: t.Enum([...presences]) })
const Refused = t.Object({ code: t.String({ maxLength: 64 }), message: t.String({ maxLength: 4000 }) })

const LIMIT_MS = 60_000

/** Answers each question on the stream with what `answer` returns. */
export function answerOn(stream: Duplex, answer: (question: Question) => Promise<object>) {
  let turn = Promise.resolve()
  onLines(stream, (line) => {
    turn = turn.then(async () => {
      let said: object
      try {
        const question: unknown = JSON.parse(line)
        if (!Value.Check(Question, question)) throw new Failure('migration_failed', 'a question that is not known here')
        said = await answer(question)
      } catch (error) {
        const { code, message } = failureOf(error)
        said = { refused: { code, message } }
      }
      if (!stream.destroyed) stream.write(`${JSON.stringify(said)}\n`)
    })
  })
  stream.once('end', () => stream.end())
}

/** Asks once, on a stream of its own, which it ends. Throws the target's failure, and `transfer_cut`. */
export async function askOn<S extends TSchema>(stream: Duplex, question: Question, schema: S): Promise<Static<S>> {
  try {
    const line = await new Promise<string>((resolve, reject) => {
      const cut = () => reject(new Failure('transfer_cut', 'the other node does not answer any more'))
      const timer = setTimeout(cut, LIMIT_MS)
      stream.once('close', cut)
      stream.once('error', cut)
      stream.once('end', cut)
      onLines(stream, (text) => {
        clearTimeout(timer)
        resolve(text)
      })
      stream.write(`${JSON.stringify(question)}\n`)
    })
    const said: unknown = JSON.parse(line)
    const { refused } = said as { refused?: unknown }
    if (Value.Check(Refused, refused)) throw new Failure('migration_failed', `the other node: ${refused.message}`)
    if (!Value.Check(schema, said)) throw new Failure('migration_failed', 'the other node answers something else')
    return said
  } finally {
    stream.destroy()
  }
}

function onLines(stream: Duplex, take: (line: string) => void) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    rest += text
    if (rest.length > mostLineBytes * 2) return stream.destroy()
    const lines = rest.split('\n')
    rest = lines.pop()!
    lines.forEach(take)
  })
}
