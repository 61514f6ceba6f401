// One thread serves everybody: no operation may hold it for more than 50 ms, also with its largest body or query. Over
// 60,000 servers: test/bench/servers/holds.ts.
import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/app/features.ts'
import { longestHold, threadMs } from '../../support/load/event-loop.ts'
import { companyOf, heldBy, MOST_HOLD_MS, slowness } from '../../support/load/holds.ts'
import { quickCount } from '../../support/quick.ts'

const spin = (forMs: number) => {
  for (const end = threadMs() + forMs; threadMs() < end; );
}

describe('the longest hold of the event loop', () => {
  test('is measured: work in one piece, and not what waits', async () => {
    expect(await longestHold(async () => spin(60))).toBeGreaterThan(30)
    expect(await longestHold(() => Bun.sleep(60))).toBeLessThan(30)
  })

  test('of each operation with its largest calls is short', async () => {
    const p = await companyOf(quickCount(2000, 5))
    try {
      let slow = slowness()
      const held = []
      for await (const one of heldBy(p, registry.operations)) held.push(one)
      slow = Math.max(slow, slowness())
      // The largest list of all was really compared, and most calls found what they are about.
      expect(held.find(({ id, variant }) => id === 'usage.reconcile' && variant.startsWith('services'))?.status).toBe(
        200,
      )
      expect(held.filter(({ status }) => status < 300).length).toBeGreaterThan(150)
      expect(held.filter(({ ms }) => ms > MOST_HOLD_MS * slow)).toEqual([])
    } finally {
      p.close()
    }
  }, 240_000)
})
