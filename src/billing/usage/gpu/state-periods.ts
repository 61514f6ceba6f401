// The spells of a GPU instance: what it was, from when to when, added up from the intervals of the ledger.
import type { Period } from '../period.ts'
import type { UsageInterval } from '../tables.ts'

/**
 * The states that are counted. Together they are all the time that the instance exists: while it is set up, and after
 * that failed, its cards are held and nothing runs.
 */
export const spellStates = ['running', 'stopped', 'suspended'] as const
export type SpellState = (typeof spellStates)[number]
/** From `from` up to, and without, `to`, in ms. */
export type Spell = Period & { state: SpellState }

type Interval = Pick<UsageInterval, 'state' | 'power' | 'since' | 'until'>
const stateOf = ({ state, power }: Interval): SpellState =>
  state === 'suspended' ? 'suspended' : power === 'running' ? 'running' : 'stopped'

/**
 * The spells within the period; `intervals` are those of one instance in the order of time. Intervals that differ in a
 * fact that is not counted, such as a name, are one spell.
 */
export function spellsOf(intervals: readonly Interval[], { from, to }: Period): Spell[] {
  const spells: Spell[] = []
  for (const interval of intervals) {
    const spell = {
      state: stateOf(interval),
      from: Math.max(interval.since, from),
      to: Math.min(interval.until ?? to, to),
    }
    if (spell.to <= spell.from) continue
    const last = spells.at(-1)
    if (last?.state === spell.state && last.to === spell.from) last.to = spell.to
    else spells.push(spell)
  }
  return spells
}

/** How long the spells of each state are, in ms. */
export function spellSums(spells: readonly Spell[]): Record<SpellState, number> {
  const sums = { running: 0, stopped: 0, suspended: 0 }
  for (const { state, from, to } of spells) sums[state] += to - from
  return sums
}
