// Changes of one turn of the event loop share a transaction, and nothing else.
import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test'
import { writeTogether } from '../../../src/kernel/db/group-commit.ts'
import { afterWrite, type Tx, write, writeUnflushed } from '../../../src/kernel/db/open.ts'
import { freshDb } from '../../support/world/fresh-db.ts'

const db = freshDb()
afterAll(() => db.$client.close())
db.$client.run('CREATE TABLE marks (mark TEXT PRIMARY KEY)')
const mark = (name: string) => (tx: Tx) => {
  tx.$client.run('INSERT INTO marks VALUES (?)', [name])
  return name
}
const marks = (start: string) =>
  db.$client
    .query<{ mark: string }, [string]>("SELECT mark FROM marks WHERE mark LIKE ? || '%' ORDER BY mark")
    .all(start)
    .map((row) => row.mark)
// A busy machine may take longer for three changes than a transaction gathers, so time stands still.
let now = 0
const clock = spyOn(performance, 'now').mockImplementation(() => now)
beforeEach(() => void (now = 0))
afterAll(() => clock.mockRestore())

let transactions = 0
afterWrite(db, () => transactions++)

test('they cost one transaction, and each gets its own answer once it is there', async () => {
  const before = transactions
  const inside: boolean[] = []
  const asked = ['a1', 'a2', 'a3'].map((name) =>
    writeTogether(db, mark(name)).then((made) => {
      inside.push(db.$client.inTransaction)
      return made
    }),
  )
  expect(marks('a')).toEqual([])
  expect(await Promise.all(asked)).toEqual(['a1', 'a2', 'a3'])
  expect([transactions - before, inside]).toEqual([1, [false, false, false]])
})

test('what one throws takes back nothing of the others, and reaches only who asked for it', async () => {
  const before = transactions
  const asked = [
    writeTogether(db, mark('b1')),
    writeTogether(db, (tx) => {
      mark('b2')(tx)
      throw new Error('refused')
    }),
    writeTogether(db, mark('b3')),
  ]
  expect((await Promise.allSettled(asked)).map((each) => each.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await expect(asked[1]).rejects.toThrow('refused')
  expect([marks('b'), transactions - before]).toEqual([['b1', 'b3'], 1])
})

test('a transaction in which every change is refused is rolled back, and nothing is committed', async () => {
  const before = transactions
  const refused = ['r1', 'r2'].map((name) =>
    writeTogether(db, (tx) => {
      mark(name)(tx)
      throw new Error(`${name} is refused`)
    }),
  )
  const ended = await Promise.allSettled(refused)
  expect(ended.map((each) => each.status === 'rejected' && each.reason.message)).toEqual([
    'r1 is refused',
    'r2 is refused',
  ])
  expect([marks('r'), transactions - before, db.$client.inTransaction]).toEqual([[], 0, false])
})

test('a later one sees what an earlier one did', async () => {
  const unique = ['c1', 'c1'].map((name) => writeTogether(db, mark(name)))
  expect((await Promise.allSettled(unique)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(marks('c')).toEqual(['c1'])
})

test('an error of the disk takes all of them back, and each one hears of it', async () => {
  const own = freshDb()
  own.$client.run('CREATE TABLE marks (mark TEXT PRIMARY KEY)')
  const asked = [
    writeTogether(own, mark('d1')),
    writeTogether(own, () => {
      throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' })
    }),
    writeTogether(own, mark('d3')),
  ]
  const ended = await Promise.allSettled(asked)
  expect(ended.map((each) => each.status === 'rejected' && each.reason.constructor.name)).toEqual([
    'DatabaseUnavailable',
    'DatabaseUnavailable',
    'DatabaseUnavailable',
  ])
  expect(own.$client.query('SELECT count(*) AS n FROM marks').get()).toEqual({ n: 0 })
  own.$client.close()
})

test('they do not hold up reads for long: what does not fit goes into the next transaction', async () => {
  const before = transactions
  const slow = (name: string) =>
    writeTogether(db, (tx) => {
      now += 6
      return mark(name)(tx)
    })
  expect(await Promise.all(['e1', 'e2', 'e3', 'e4'].map(slow))).toEqual(['e1', 'e2', 'e3', 'e4'])
  expect(transactions - before).toBe(2)
})

test('a transaction without a flush leaves the next one with it', () => {
  const level = () => db.$client.query('PRAGMA synchronous').get()
  let during: unknown
  writeUnflushed(db, (tx) => {
    during = level()
    mark('f1')(tx)
  })
  expect([during, level(), marks('f')]).toEqual([{ synchronous: 1 }, { synchronous: 2 }, ['f1']])
  expect(() =>
    writeUnflushed(db, () => {
      throw new Error('broken')
    }),
  ).toThrow('broken')
  expect(level()).toEqual({ synchronous: 2 })
  write(db, mark('f2'))
})
