// Random histories of GPU instances, and a second computation that knows nothing of intervals: it asks for every
// stretch between two events what the instance was then.
import { expect, test } from 'bun:test'
import { type Spell, spellStates, spellSums, spellsOf } from '../../../src/billing/usage/gpu/state-periods.ts'
import type { UsageInterval } from '../../../src/billing/usage/tables.ts'
import { quickCount } from '../../support/quick.ts'
import { seeded } from '../../support/random/seeded.ts'

type Fact = Pick<UsageInterval, 'state' | 'power'>
/** Every combination that the ledger can have; null: it is not there. */
const facts: readonly (Fact | null)[] = [
  { state: 'provisioning', power: 'stopped' },
  { state: 'active', power: 'running' },
  { state: 'active', power: 'running' },
  { state: 'active', power: 'stopped' },
  { state: 'failed', power: 'stopped' },
  { state: 'suspended', power: null },
  null,
]
const kindOf = ({ state, power }: Fact) => (state === 'suspended' ? state : power === 'running' ? 'running' : 'stopped')
const BEGIN = Date.UTC(2026, 0, 20)
const LENGTH = 100 * 86_400_000

type Event = { at: number; fact: Fact | null }
/** Events close together and far apart; a suspension may follow within the same second, and so may its end. */
function historyOf(next: () => number): Event[] {
  const events: Event[] = []
  let at = BEGIN + Math.floor(next() * LENGTH * 0.3)
  const n = 1 + Math.floor(next() * 14)
  for (let i = 0; i < n; i++) {
    const fact = facts[Math.floor(next() * (i ? facts.length : facts.length - 1))]!
    events.push({ at, fact })
    // A deleted instance never comes back.
    if (fact === null) break
    at += 1 + Math.floor(next() * (next() < 0.3 ? 5 : LENGTH / n))
  }
  return events
}
const intervalsOf = (events: readonly Event[]) =>
  events.flatMap(({ at, fact }, i) => (fact ? [{ ...fact, since: at, until: events[i + 1]?.at ?? null }] : []))

/** The sum of each state, by asking at every stretch in which nothing happens. */
function slowSums(events: readonly Event[], from: number, to: number) {
  const sums = { running: 0, stopped: 0, suspended: 0 }
  const cuts = [from, to, ...events.map(({ at }) => at).filter((at) => at > from && at < to)].toSorted((a, b) => a - b)
  for (let i = 1; i < cuts.length; i++) {
    const was = events.findLast(({ at }) => at <= cuts[i - 1]!)?.fact
    if (was) sums[kindOf(was)] += cuts[i]! - cuts[i - 1]!
  }
  return sums
}

/** Are the spells of an instance in order, of some length, one beside the next, and no two of one state together? */
function faultsOf(spells: readonly Spell[], from: number, to: number): string[] {
  const faults: string[] = []
  for (const [i, spell] of spells.entries()) {
    if (spell.to <= spell.from) faults.push('a spell without length')
    if (spell.from < from || spell.to > to) faults.push('a spell outside of the period')
    const before = spells[i - 1]
    if (before && before.to !== spell.from) faults.push(before.to > spell.from ? 'an overlap' : 'a hole')
    if (before?.state === spell.state) faults.push('two spells that are one')
  }
  return faults
}

test('10,000 histories: the states add up to the time it was held, without holes, and so does any split', () => {
  for (let seed = 1; seed <= quickCount(10_000, 5); seed++) {
    const next = seeded(seed)
    const events = historyOf(next)
    const intervals = intervalsOf(events)
    const [a, b, c] = [next(), next(), next()].map((x) => BEGIN + Math.floor(x * LENGTH)).toSorted((x, y) => x - y) as [
      number,
      number,
      number,
    ]
    const found = ([from, to]: readonly [number, number]) => {
      const spells = spellsOf(intervals, { from, to })
      expect({ seed, faults: faultsOf(spells, from, to) }).toEqual({ seed, faults: [] })
      const sums = spellSums(spells)
      expect({ seed, ...sums }).toEqual({ seed, ...slowSums(events, from, to) })
      // The time it was held, from its first to its last moment alone.
      const end = events.at(-1)!.fact === null ? events.at(-1)!.at : Infinity
      const held = Math.max(0, Math.min(to, end) - Math.max(from, events[0]!.at))
      expect({ seed, held: sums.running + sums.stopped + sums.suspended }).toEqual({ seed, held })
      return sums
    }
    const [left, right, whole] = [found([a, b]), found([b, c]), found([a, c])]
    for (const state of spellStates) expect(left[state] + right[state]).toBe(whole[state])
  }
})

test('a rename and a new price split no spell', () => {
  const was = { state: 'active', power: 'running' } as const
  const [from, to] = [BEGIN, BEGIN + 1000]
  expect(
    spellsOf(
      [
        { ...was, since: BEGIN, until: BEGIN + 300 },
        { ...was, since: BEGIN + 300, until: null },
      ],
      { from, to },
    ),
  ).toEqual([{ state: 'running', from, to }])
})
