import { expect, test } from 'bun:test'
import { quickCount } from '../../support/quick.ts'
import { fuzz } from '../simulators/fuzz.ts'
import { all, solusReader } from '../simulators/reading.ts'
import { SolusPanel } from '../simulators/solusvm2.ts'

test('changed answers of SolusVM 2 never give half a list, a huge record or an unknown error', async () => {
  const panel = new SolusPanel({ servers: 5, cap: 3 })
  const reader = solusReader(panel)
  const hypervisors = [{ id: '1' }, { id: '2' }]
  const cases = quickCount(20_000, 20)
  const { outcomes, mostRequests } = await fuzz(
    panel,
    [
      { name: 'account', whole: 1, read: async () => [await reader.account()] },
      { name: 'hypervisors', whole: 2, read: () => all(reader.hypervisors()) },
      { name: 'packages', whole: 2, read: () => all(reader.packages()) },
      { name: 'ranges', whole: 3, read: () => all(reader.ranges()) },
      { name: 'owners', whole: 3, read: () => all(reader.owners()) },
      { name: 'servers', whole: 5, read: () => all(reader.servers(hypervisors)) },
    ],
    cases,
    false,
  )
  expect([...outcomes.values()].reduce((a, b) => a + b)).toBe(cases)
  expect(outcomes.get('whole')).toBeGreaterThan(cases / 4)
  expect(mostRequests).toBeLessThan(60)
  expect(panel.violations).toEqual([])
}, 60_000)
