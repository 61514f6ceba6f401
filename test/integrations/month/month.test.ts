// A month of the billing systems on one Berth: two installations of each, answers that are lost, calls that come twice
// or at once, processes that die, and staff that acts in the panel meanwhile. At the end billing and Berth agree line
// by line, no server is unbilled, and no client sees another's. BERTH_LONG=1 plays 200 clients of each system.
import { describe, expect, test } from 'bun:test'
import { seeded } from '../../support/random/seeded.ts'
import { isPhpThere } from '../berth.ts'
import { play } from './play.ts'

const isLong = process.env['BERTH_LONG'] === '1'
const size = isLong ? { clients: 100, days: 30, atOnce: 6 } : { clients: 4, days: 6, atOnce: 4 }

describe.skipIf(!isPhpThere)('a month of billing', () => {
  test(
    'billing and Berth agree line by line',
    async () => {
      const seed = Number(process.env['MONTH'] ?? 24)
      const told = await play({ ...size, random: seeded(seed) })
      console.log(JSON.stringify({ seed, ...told.figures }))
      expect(told.problems).toEqual([])
      // The month had something of everything.
      for (const [what, count] of Object.entries(told.figures)) expect([what, count > 0]).toEqual([what, true])
    },
    isLong ? 3_600_000 : 900_000,
  )
})
