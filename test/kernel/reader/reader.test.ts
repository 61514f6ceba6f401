import { describe, expect, test } from 'bun:test'
import { quieten } from '../../../src/kernel/log.ts'
import type { FromReader, Question, ToReader } from '../../../src/kernel/reader/protocol.ts'
import { Reader, type ReaderLimits, readerLimits } from '../../../src/kernel/reader/reader.ts'
import { eventually } from '../../support/waiting/eventually.ts'

quieten(true)

type Distributed<M> = M extends { id: number } ? Omit<M, 'id'> : never
const question = (operation: string) => ({ operation }) as Question
/** A reader whose thread is the test: what it was sent, and a way to answer. */
function readerOf(limits: Partial<ReaderLimits> = {}) {
  const threads: { sent: ToReader[]; isEnded: boolean; say(message: FromReader): void; die(why: string): void }[] = []
  const reader = new Reader(
    ({ heard, ended }) => {
      const thread = { sent: [] as ToReader[], isEnded: false, say: heard, die: ended }
      threads.push(thread)
      queueMicrotask(() => heard({ type: 'ready' }))
      return { send: (message) => void thread.sent.push(message), end: () => void (thread.isEnded = true) }
    },
    { ...readerLimits, ...limits },
  )
  const thread = () => threads.at(-1)!
  const asked = () =>
    (threads.at(-1)?.sent ?? []).flatMap((m) => (m.type === 'ask' ? [{ id: m.id, op: m.question.operation }] : []))
  const idOf = async (op: string) => {
    await eventually(() => asked().some((one) => one.op === op))
    return asked().find((one) => one.op === op)!.id
  }
  return {
    reader,
    threads,
    thread,
    idOf,
    asked,
    say: async (op: string, message: Distributed<FromReader>) => {
      const id = await idOf(op)
      thread().say({ id, ...message } as FromReader)
    },
    /** Begins a file. */
    async file(account: string, op: string) {
      const file = reader.file(account, question(op))
      const id = await idOf(op)
      thread().say({ id, type: 'begun' })
      const parts = (await file)[Symbol.asyncIterator]()
      return { id, parts }
    },
    wanted: (id: number) => thread().sent.filter((m) => m.id === id && m.type === 'more').length,
  }
}
const piece = (text: string) => new TextEncoder().encode(text)

describe('the thread of long reads', () => {
  test('starts with the first read, serves the next ones too, and ends when there was none for a while', async () => {
    const { reader, say, threads, thread } = readerOf({ idleMs: 1 })
    expect(threads).toHaveLength(0)
    for (const op of ['a', 'b']) {
      const value = reader.value('usr_1', question(op))
      await say(op, { type: 'value', value: `${op} is read` })
      expect(await value).toBe(`${op} is read`)
    }
    expect(threads).toHaveLength(1)
    await eventually(() => thread().isEnded)
    const value = reader.value('usr_1', question('c'))
    await say('c', { type: 'value', value: 3 })
    expect(await value).toBe(3)
    expect(threads).toHaveLength(2)
    reader.stop()
  })

  test('fails its reads when it dies, and the next read has another one', async () => {
    const { reader, say, threads, thread, idOf, file } = readerOf()
    const begun = await file('usr_1', 'file')
    const next = begun.parts.next()
    const value = reader.value('usr_1', question('a'))
    await idOf('a')
    const failed = Promise.allSettled([value, next])
    thread().die('out of memory')
    const reasons = (await failed).map((one) => (one.status === 'rejected' ? String(one.reason) : one.status))
    expect(reasons).toEqual(Array(2).fill('Error: the reader ended: out of memory'))
    const again = reader.value('usr_1', question('b'))
    await say('b', { type: 'value', value: 1 })
    expect(await again).toBe(1)
    expect(threads).toHaveLength(2)
    reader.stop()
  })

  test('is ended when a statement takes too long, and only that read is told to ask for less', async () => {
    const { reader, say, threads, thread, idOf, file } = readerOf({ turnMs: 50 })
    const begun = await file('usr_2', 'file')
    const slow = reader.value('usr_1', question('slow'))
    const id = await idOf('slow')
    thread().say({ id, type: 'turn' })
    expect(slow).rejects.toMatchObject({ code: 'not_possible', message: expect.stringMatching(/Ask for less/) })
    expect(begun.parts.next()).rejects.toMatchObject({ message: expect.stringMatching(/Another read took too long/) })
    await eventually(() => thread().isEnded)
    // The old thread is not heard any more.
    const next = reader.value('usr_1', question('next'))
    threads[0]!.say({ id: await idOf('next'), type: 'value', value: 'of the old one' })
    await say('next', { type: 'value', value: 'of the new one' })
    expect(await next).toBe('of the new one')
    reader.stop()
  })

  test('ends a value that takes too long in many turns', async () => {
    const { reader, thread, idOf } = readerOf({ valueMs: 50 })
    const slow = reader.value('usr_1', question('slow'))
    await idOf('slow')
    expect(slow).rejects.toMatchObject({ code: 'not_possible' })
    await eventually(() => thread().isEnded)
  })

  test('reads nothing once the controller stops', async () => {
    const { reader, thread, idOf } = readerOf()
    const value = reader.value('usr_1', question('a'))
    await idOf('a')
    reader.stop()
    expect(value).rejects.toMatchObject({ code: 'not_possible' })
    expect(reader.value('usr_1', question('b'))).rejects.toMatchObject({ code: 'not_possible' })
    expect(thread().isEnded).toBe(true)
  })
})

describe('long reads of one account', () => {
  test('are made two at once; some wait, one more is refused, and others do not wait for them', async () => {
    const { reader, say, idOf, asked } = readerOf({ waiting: 1 })
    const values = ['a', 'b', 'c'].map((op) => reader.value('usr_1', question(op)))
    await idOf('b')
    expect(reader.value('usr_1', question('d'))).rejects.toMatchObject({
      code: 'rate_limited',
      details: { retryAfterSeconds: 5 },
    })
    const other = reader.value('usr_2', question('e'))
    await say('e', { type: 'value', value: 'e' })
    expect(await other).toBe('e')
    expect(asked().map(({ op }) => op)).toEqual(['a', 'b', 'e'])
    await say('a', { type: 'refused', code: 'invalid_request', message: 'No.', details: {} })
    expect(values[0]).rejects.toMatchObject({ code: 'invalid_request', message: 'No.' })
    for (const op of ['c', 'b']) await say(op, { type: 'value', value: op })
    expect(await Promise.all(values.slice(1))).toEqual(['b', 'c'])
    reader.stop()
  })

  test('do not wait for ever for those before them', async () => {
    const { reader, say } = readerOf({ atOnce: 1, waitMs: 20 })
    const first = reader.value('usr_1', question('a'))
    expect(reader.value('usr_1', question('b'))).rejects.toMatchObject({ code: 'rate_limited' })
    await Bun.sleep(50)
    await say('a', { type: 'value', value: 1 })
    await first
    const next = reader.value('usr_1', question('c'))
    await say('c', { type: 'value', value: 3 })
    expect(await next).toBe(3)
    reader.stop()
  })
})

describe('a file', () => {
  test('is made as its client takes it: a few pieces ahead, and no more', async () => {
    const { reader, thread, file, wanted } = readerOf()
    const { id, parts } = await file('usr_1', 'file')
    expect(wanted(id)).toBe(3)
    for (const text of ['a', 'b', 'c']) thread().say({ id, type: 'piece', bytes: piece(text) })
    expect(wanted(id)).toBe(3)
    expect(new TextDecoder().decode((await parts.next()).value!)).toBe('a')
    expect(wanted(id)).toBe(4)
    thread().say({ id, type: 'end' })
    const rest = [await parts.next(), await parts.next(), await parts.next()]
    expect(rest.map(({ done, value }) => done || new TextDecoder().decode(value))).toEqual(['b', 'c', true])
    reader.stop()
  })

  test('ends when its client goes away, or takes nothing more, and its place is free', async () => {
    const { reader, thread, file } = readerOf({ atOnce: 1, stalledMs: 50 })
    const first = await file('usr_1', 'first')
    await first.parts.return!()
    expect(thread().sent.at(-1)).toEqual({ id: first.id, type: 'end' })
    const second = await file('usr_1', 'second')
    await eventually(() => thread().sent.some(({ id, type }) => id === second.id && type === 'end'))
    await file('usr_1', 'third')
    reader.stop()
  })
})
