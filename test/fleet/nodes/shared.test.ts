import { expect, test } from 'bun:test'
import { shared } from '../../../src/fleet/node-records/shared.ts'
import { world } from '../../support/world/panel.ts'

test('what is large is read once for all who look, for each key; what is small by everybody', async () => {
  using p = await world()
  using other = await world()
  let read = 0
  const numbers = shared<number>((value) => value >= 100)
  const asked = (db: typeof p.db, value: number, at = {}) => {
    const before = read
    const answered = numbers(db, at, () => {
      read++
      return value
    })
    return [answered, read - before]
  }
  expect(asked(p.db, 1)).toEqual([1, 1])
  expect(asked(p.db, 2)).toEqual([2, 1])
  expect(asked(p.db, 100)).toEqual([100, 1])
  expect(asked(p.db, 101)).toEqual([100, 0])
  expect(asked(other.db, 102)).toEqual([102, 1])
  expect(asked(p.db, 103, { place: 'a' })).toEqual([103, 1])
  expect(asked(p.db, 104, { place: 'a', key: 'b' })).toEqual([104, 1])
  expect(asked(p.db, 105)).toEqual([100, 0])
  const { now } = performance
  const later = now.call(performance) + 2001
  performance.now = () => later
  try {
    expect(asked(p.db, 106)).toEqual([106, 1])
    expect(asked(p.db, 107)).toEqual([106, 0])
  } finally {
    performance.now = now
  }
})
