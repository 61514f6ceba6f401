import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { jsonOf, keeping } from '../../../src/kernel/db/cache.ts'
import { type Db, openDb, read, write } from '../../../src/kernel/db/open.ts'

let db: Db
let made: number
const settings = keeping<{ values: string[] }>(3)
const ask = (key = 'all') =>
  read(db, () =>
    settings(db, key, () => {
      made++
      return {
        values: db.$client
          .query<{ name: string }, []>('SELECT name FROM thing')
          .all()
          .map((row) => row.name),
      }
    }),
  )
const put = (name: string) => write(db, () => void db.$client.run('INSERT INTO thing VALUES (?)', [name]))

beforeEach(() => {
  db = openDb(':memory:')
  db.$client.run('CREATE TABLE thing (name TEXT)')
  put('a')
  made = 0
})
afterEach(() => db.$client.close())

describe('an answer that is kept', () => {
  test('is made once and shared by all who ask', () => {
    const first = ask()
    expect(ask()).toBe(first)
    expect([first, made]).toEqual([{ values: ['a'] }, 1])
  })
  test('is written as JSON once', () => {
    let written = 0
    const once = keeping<object>(3)
    const kept = () => once(db, 'json', () => ({ toJSON: () => `made ${++written}` }))
    expect([jsonOf(kept()), jsonOf(kept()), written]).toEqual(['"made 1"', '"made 1"', 1])
    expect([jsonOf({ toJSON: () => `made ${++written}` }), written]).toEqual(['"made 2"', 2])
  })
  test('is made anew after any row has changed, in whatever table', () => {
    ask()
    put('b')
    expect(ask()).toEqual({ values: ['a', 'b'] })
    db.$client.run('DELETE FROM thing')
    expect(ask()).toEqual({ values: [] })
    db.$client.run("INSERT INTO settings VALUES ('x', 'y')")
    ask()
    expect(made).toBe(4)
  })
  test('is not the one that a transaction saw which took its change back', () => {
    expect(() =>
      write(db, () => {
        db.$client.run("INSERT INTO thing VALUES ('b')")
        expect(settings(db, 'all', () => ({ values: ['a', 'b'] }))).toEqual({ values: ['a', 'b'] })
        throw new Error('no')
      }),
    ).toThrow('no')
    expect(ask()).toEqual({ values: ['a'] })
  })
  test('cannot be changed by one of those who share it', () => {
    expect(() => ask().values.push('mine')).toThrow(TypeError)
    expect(ask()).toEqual({ values: ['a'] })
  })
  test('goes when there are more than so many', () => {
    for (const key of ['1', '2', '3', '4', '1']) ask(key)
    expect(made).toBe(5)
    ask('4')
    expect(made).toBe(5)
  })
  test('belongs to one database', () => {
    ask()
    const other = openDb(':memory:')
    expect(read(other, () => settings(other, 'all', () => ({ values: ['of the other'] })))).toEqual({
      values: ['of the other'],
    })
    other.$client.close()
  })
})
