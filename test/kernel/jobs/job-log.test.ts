import { describe, expect, test } from 'bun:test'
import type { openDb } from '../../../src/kernel/db/open.ts'
import { JobLog, linesAfter } from '../../../src/kernel/jobs/log.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { freshDb } from '../../support/world/fresh-db.ts'

const line = (i: number | string) => ({ at: 1, level: 'info' as const, text: `line ${i}` })
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
const texts = (db: ReturnType<typeof openDb>, job: string) => linesAfter(db, job, 0, 10_000).map((l) => l.text)

describe('the log of a job', () => {
  const whole = [...range(0, 100), ...range(1500, 2000)].map((i) => `line ${i}`)

  test('keeps the first 100 lines and the last 500, whether they came at once or one by one', () => {
    for (const flushEvery of [2000, 700, 600, 599, 7, 1]) {
      const db = freshDb()
      const log = new JobLog(db, 1e9)
      for (let i = 0; i < 2000; i++) {
        log.add('job_1', line(i))
        if (i % flushEvery === flushEvery - 1) log.flush()
      }
      log.flush()
      expect(texts(db, 'job_1')).toEqual(whole)
    }
  })
  test('of 600 lines is kept whole, and the 601st is the first that costs one', () => {
    const db = freshDb()
    const log = new JobLog(db, 1e9)
    for (let i = 0; i < 600; i++) log.add('job_1', line(i))
    log.flush()
    expect(texts(db, 'job_1')).toEqual(range(0, 600).map((i) => `line ${i}`))
    log.add('job_1', line(600))
    log.flush()
    expect(texts(db, 'job_1')).toEqual(
      range(0, 601)
        .filter((i) => i !== 100)
        .map((i) => `line ${i}`),
    )
  })
  test('holds no more than that in memory before it is written', () => {
    const log = new JobLog(freshDb(), 1e9)
    for (let i = 0; i < 5000; i++) log.add('job_1', line(i))
    const { waiting } = log as unknown as { waiting: Map<string, { lines: unknown[] }> }
    expect(waiting.get('job_1')!.lines.length).toBeLessThanOrEqual(600)
  })
  test('is not mixed with those of others, and gives only what is new to who asks again', () => {
    const db = freshDb()
    const log = new JobLog(db, 1e9)
    for (const job of ['job_1', 'job_2', 'job_1']) log.add(job, line(job))
    log.flush()
    log.add('job_1', line('later'))
    log.flush()
    expect(linesAfter(db, 'job_1', 0).map((l) => [l.n, l.text])).toEqual([
      [1, 'line job_1'],
      [2, 'line job_1'],
      [3, 'line later'],
    ])
    expect(linesAfter(db, 'job_1', 2).map((l) => l.text)).toEqual(['line later'])
    expect(texts(db, 'job_2')).toEqual(['line job_2'])
  })
  test('numbers lines upwards without a double, also after the middle has gone', () => {
    const db = freshDb()
    const log = new JobLog(db, 1e9)
    for (let i = 0; i < 1500; i++) {
      log.add('job_1', line(i))
      if (i % 50 === 0) log.flush()
    }
    log.flush()
    const numbers = linesAfter(db, 'job_1', 0, 10_000).map((l) => l.n)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
    expect(numbers.length).toBe(600)
  })
  test('shows control characters instead of sending them to a terminal, and cuts what is endless', () => {
    const db = freshDb()
    const log = new JobLog(db, 1e9)
    log.add('job_1', { ...line(''), text: 'red \u001b[31m\r\n\u0000\u009b\u007f tab\t é 🚢' })
    log.add('job_1', { ...line(''), text: 'x'.repeat(10_000) })
    log.flush()
    expect(texts(db, 'job_1')).toEqual(['red \\x1b[31m\\x0d\\x0a\\x00\\x9b\\x7f tab\\x09 é 🚢', 'x'.repeat(4096)])
  })
  test('writes itself after a while', async () => {
    const db = freshDb()
    const log = new JobLog(db, 5)
    log.add('job_1', line(1))
    expect(texts(db, 'job_1')).toEqual([])
    await eventually(() => texts(db, 'job_1').length > 0)
    expect(texts(db, 'job_1')).toEqual(['line 1'])
  })
  test('writes what waits when it stops, and nothing by itself afterwards', async () => {
    const db = freshDb()
    const log = new JobLog(db, 5)
    log.add('job_1', line(1))
    log.stop()
    expect(texts(db, 'job_1')).toEqual(['line 1'])
    log.add('job_1', line(2))
    await Bun.sleep(40)
    expect(texts(db, 'job_1')).toEqual(['line 1'])
  })
})
