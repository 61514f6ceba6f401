import { expect, test } from 'bun:test'
import { quickCount } from '../../support/quick.ts'
import { fuzz } from '../simulators/fuzz.ts'
import { all, virtualizorReader } from '../simulators/reading.ts'
import { VirtualizorPanel } from '../simulators/virtualizor.ts'

test('changed answers of Virtualizor never give half a list, a huge record or an unknown error', async () => {
  const panel = new VirtualizorPanel({ servers: 5, cap: 3 })
  // Its lists take more requests than those of SolusVM 2. With BERTH_LONG 20,000 cases.
  const cases = process.env['BERTH_LONG'] === '1' ? 20_000 : quickCount(8000, 8)
  const hypervisors = [
    { id: '0', servers: 2 },
    { id: '2', servers: 3 },
  ]
  const { outcomes, mostRequests } = await fuzz(
    panel,
    [
      { name: 'account', whole: 1, read: async () => [await virtualizorReader(panel).account()] },
      { name: 'hypervisors', whole: null, read: () => all(virtualizorReader(panel).hypervisors()) },
      { name: 'packages', whole: null, read: () => all(virtualizorReader(panel).packages()) },
      { name: 'ranges', whole: null, read: () => all(virtualizorReader(panel).ranges()) },
      { name: 'owners', whole: null, read: () => all(virtualizorReader(panel).owners()) },
      { name: 'servers', whole: 5, read: () => all(virtualizorReader(panel).servers(hypervisors)) },
    ],
    cases,
    true,
  )
  expect([...outcomes.values()].reduce((a, b) => a + b)).toBe(cases)
  expect(outcomes.get('whole')).toBeGreaterThan(cases / 4)
  expect(mostRequests).toBeLessThan(60)
  expect(panel.violations).toEqual([])
}, 60_000)
