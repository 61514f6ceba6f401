import { expect, test } from 'bun:test'
import { Slices } from '../../src/kernel/slices.ts'
import { longestHold } from '../support/load/event-loop.ts'

/** Some 200 ms of work in steps of a millisecond. */
async function work() {
  const slices = new Slices()
  for (let step = 0; step < 200; step++) {
    for (const end = performance.now() + 1; performance.now() < end; );
    if (slices.isOver) await slices.rest()
  }
}

test('long work in slices lets others run', async () => {
  expect(await longestHold(work)).toBeLessThan(100)
})
