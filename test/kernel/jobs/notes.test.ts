import { afterAll, expect, test } from 'bun:test'
import { afterWrite, type Tx, write } from '../../../src/kernel/db/open.ts'
import { Notes } from '../../../src/kernel/jobs/runner/notes.ts'
import { freshDb } from '../../support/world/fresh-db.ts'

const db = freshDb()
afterAll(() => db.$client.close())
db.$client.run('CREATE TABLE marks (mark TEXT PRIMARY KEY)')
const mark = (name: string) => (tx: Tx) => {
  tx.$client.run('INSERT INTO marks VALUES (?)', [name])
  return name
}
const marks = () =>
  db.$client
    .query<{ mark: string }, []>('SELECT mark FROM marks ORDER BY mark')
    .all()
    .map((row) => row.mark)

let transactions = 0
afterWrite(db, () => transactions++)
const manyAreGoing = () => 100
const notes = new Notes(db, manyAreGoing, () => {})

test('the writes of many jobs cost one transaction', async () => {
  const before = transactions
  const done = await Promise.all([notes.together(mark('a1')), notes.together(mark('a2')), notes.together(mark('a3'))])
  expect([done, transactions - before]).toEqual([['a1', 'a2', 'a3'], 1])
})

test('they go to disk with the change of another, and need no transaction of their own', async () => {
  const before = transactions
  const job = notes.together(mark('b-job'))
  write(db, mark('b-call'))
  expect(marks()).toContain('b-job')
  expect([await job, transactions - before]).toEqual(['b-job', 1])
  await Bun.sleep(20)
  expect(transactions - before).toBe(1)
})

test('a change that is refused takes nothing of them back: they go to disk by themselves', async () => {
  const job = notes.together(mark('c-job'))
  const refused = () =>
    write(db, (tx) => {
      mark('c-call')(tx)
      throw new Error('refused')
    })
  expect(refused).toThrow('refused')
  expect(await job).toBe('c-job')
  expect(marks().filter((name) => name.startsWith('c'))).toEqual(['c-job'])
})

test('work that throws takes back its own writes, and neither those of others nor the change', async () => {
  const before = transactions
  const broken = notes.together((tx) => {
    mark('d-broken')(tx)
    throw new Error('broken')
  })
  const whole = notes.together(mark('d-whole'))
  write(db, mark('d-call'))
  expect((await Promise.allSettled([broken, whole])).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(marks().filter((name) => name.startsWith('d'))).toEqual(['d-call', 'd-whole'])
  expect(transactions - before).toBe(1)
})

test('the end of a job goes along too: its log is on disk first', async () => {
  const order: string[] = []
  const own = new Notes(db, manyAreGoing, () => order.push('log'))
  const end = own.together((tx) => order.push(mark('e-end')(tx)), true)
  write(db, (tx) => order.push(mark('e-call')(tx)))
  expect(marks()).toContain('e-end')
  await end
  expect(order).toEqual(['log', 'e-call', 'e-end'])
})
