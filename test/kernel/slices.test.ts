import { describe, expect, test } from 'bun:test'
import { type Slices, Turns } from '../../src/kernel/slices.ts'
import { longestHold } from '../support/load/event-loop.ts'

/** Some 200 ms of work in steps of a millisecond. */
async function work(slices: Slices) {
  for (let step = 0; step < 200; step++) {
    for (const end = performance.now() + 1; performance.now() < end; );
    if (slices.isOver) await slices.rest()
  }
}

describe('long work in slices', () => {
  test('lets others run, also when many ask for it at once', async () => {
    const turns = new Turns(8)
    const hold = await longestHold(() => Promise.all(Array.from({ length: 4 }, () => turns.take('a', work))))
    // One piece of work alone takes 200 ms.
    expect(hold).toBeLessThan(100)
  })
  test('is done in the order in which it was asked for, one at a time, and goes on behind a failure', async () => {
    const turns = new Turns(8)
    const seen: string[] = []
    const named = (name: string) => async (slices: Slices) => {
      seen.push(`${name} begins`)
      await slices.rest()
      if (name === 'b') throw new Error('no')
      seen.push(`${name} ends`)
      return name
    }
    const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => turns.take(name, named(name))))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'c begins', 'c ends'])
  })
  test('is refused to a key that has too much of it open, and not to others', async () => {
    const turns = new Turns(2)
    const open = [turns.take('a', work), turns.take('a', work)]
    expect(turns.take('a', work)).rejects.toMatchObject({ code: 'rate_limited' })
    await Promise.all([...open, turns.take('b', work)])
    await turns.take('a', async () => {})
  })
})
