// Changed answers through the whole product: a discovery is whole, or it changes nothing. With BERTH_LONG 20,000 cases
// of each panel.
import { expect, test } from 'bun:test'
import { sourceFailureCodes } from '../../../src/imports/sources/failure.ts'
import { quickCount } from '../../support/quick.ts'
import { seeded } from '../../support/random/seeded.ts'
import { mutated } from '../simulators/fuzz.ts'
import { SolusPanel } from '../simulators/solusvm2.ts'
import { VirtualizorPanel } from '../simulators/virtualizor.ts'
import { turn } from '../world.ts'
import { discover, importOf, inventory, type Kind } from './served.ts'

/** How many rows of each list the panel itself has named. */
const sizes = (all: Awaited<ReturnType<typeof inventory>>) =>
  Object.fromEntries(
    Object.entries(all).map(([list, rows]) => [
      list,
      rows.filter(({ sourceId }) => !/^(unknown$|size:|email:)/.test(sourceId)).length,
    ]),
  )

const LONG = process.env['BERTH_LONG'] === '1'
const cases = LONG ? 20_000 : quickCount(200, 4)

/**
 * `counts`: the sizes that each list has at most and at least, where the panel tells how many there are. The lists of
 * Virtualizor have no counts, so a row that its answer lacks cannot be missed.
 */
async function fuzzed(kind: Kind, panel: SolusPanel | VirtualizorPanel, isCounted: boolean) {
  using p = await importOf(panel, kind)
  const whole = sizes(await inventory(p, p.id))
  const usual = panel.requests.length
  const outcomes = new Map<string, number>()
  let known = JSON.stringify(await inventory(p, p.id))
  for (let seed = 1; seed <= cases; seed++) {
    const random = seeded(seed)
    const which = Math.floor(random() * usual)
    panel.requests.length = 0
    panel.fault = (_, answer, n) => (n === which ? mutated(answer(), random) : answer())
    const read = await discover(p, p.id)
    const code = read.trouble?.code ?? 'whole'
    outcomes.set(code, (outcomes.get(code) ?? 0) + 1)
    expect([seed, read.status]).toEqual([seed, 'mapping'])
    expect([seed, panel.requests.length < 8 * usual + 20]).toEqual([seed, true])
    const now = await inventory(p, p.id)
    if (read.trouble) {
      // A failure of Berth itself would be called internal.
      expect([seed, sourceFailureCodes.includes(code)]).toEqual([seed, true])
      expect([seed, JSON.stringify(now)]).toEqual([seed, known])
      continue
    }
    const found = sizes(now)
    expect([seed, found.servers]).toEqual([seed, whole.servers!])
    // An owner whose address cannot be used is none: its servers belong to unknown owners.
    const lost = (list: string) => whole[list]! - found[list]!
    if (isCounted)
      for (const list of Object.keys(whole))
        expect([seed, list, lost(list) <= Number(list === 'owners')]).toEqual([seed, list, true])
    expect([seed, read.servers.total]).toEqual([seed, whole.servers!])
    known = JSON.stringify(now)
  }
  expect([...outcomes.values()].reduce((a, b) => a + b)).toBe(cases)
  expect(outcomes.get('whole')).toBeGreaterThan(cases / 4)
  expect(panel.violations).toEqual([])
  panel.fault = null
  await turn(p)
  expect((await discover(p, p.id)).trouble).toBeNull()
  expect(sizes(await inventory(p, p.id))).toEqual(whole)
  console.log(`${kind}: ${cases} discoveries with a changed answer: ${JSON.stringify(Object.fromEntries(outcomes))}`)
}

const LIMIT = LONG ? 3_600_000 : 60_000
test(
  'SolusVM 2: a discovery with a changed answer is whole, or changes nothing',
  async () => {
    await fuzzed('solusvm2', new SolusPanel({ servers: 5, cap: 3 }), true)
  },
  LIMIT,
)
test(
  'Virtualizor: a discovery with a changed answer is whole, or changes nothing',
  async () => {
    await fuzzed('virtualizor', new VirtualizorPanel({ servers: 5, cap: 3 }), false)
  },
  LIMIT,
)
