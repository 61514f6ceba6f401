// Random histories of servers, and a second computation that knows nothing of intervals: it asks for every stretch
// between two events what the server was then.
import { expect, test } from 'bun:test'
import { addedUp, within } from '../../../src/billing/usage/model.ts'
import { monthAfter, monthOf, wholeMonth } from '../../../src/billing/usage/period.ts'
import { type UsageInterval, usageStates } from '../../../src/billing/usage/tables.ts'
import { quickCount } from '../../support/quick.ts'
import { seeded } from '../../support/random/seeded.ts'

type Moment = { at: number; state: UsageInterval['state'] | null; productId: string | null }
const begin = Date.UTC(2026, 0, 20)
const length = 100 * 86_400_000

function historyOf(next: () => number): Moment[] {
  const events: Moment[] = []
  let at = begin + Math.floor(next() * length * 0.3)
  const n = 1 + Math.floor(next() * 12)
  for (let i = 0; i < n; i++) {
    events.push({
      at,
      state: i && next() < 0.15 ? null : usageStates[Math.floor(next() * usageStates.length)]!,
      productId: `pkg_${Math.floor(next() * 3)}`,
    })
    at += 1 + Math.floor(next() * (next() < 0.2 ? 5 : length / n))
  }
  return events
}

const intervalsOf = (events: readonly Moment[]): UsageInterval[] =>
  events.flatMap(({ at, state, productId }, i) =>
    state === null
      ? []
      : [
          {
            id: i,
            workloadId: 'srv',
            kind: 'server',
            ownerId: 'usr',
            resellerId: null,
            hostname: 'h',
            productId,
            productName: productId,
            billingProductId: null,
            billingServiceId: null,
            state,
            power: null,
            since: at,
            until: events[i + 1]?.at ?? null,
          },
        ],
  )

/** The state at a moment: that of the last event before it. */
const wasAt = (events: readonly Moment[], at: number) => events.findLast((event) => event.at <= at)
/** The second computation: the sum over all stretches in which nothing happens. */
function sums(events: readonly Moment[], from: number, to: number): Record<string, number> {
  const cuts = [from, to, ...events.map(({ at }) => at).filter((at) => at > from && at < to)].toSorted((a, b) => a - b)
  const found: Record<string, number> = {}
  for (let i = 1; i < cuts.length; i++) {
    const was = wasAt(events, cuts[i - 1]!)
    if (!was || was.state === null) continue
    for (const key of ['all', was.state, was.productId!]) found[key] = (found[key] ?? 0) + cuts[i]! - cuts[i - 1]!
  }
  return found
}
const asSums = (intervals: readonly UsageInterval[], from: number, to: number): Record<string, number> => {
  const fitting = intervals.filter(({ since, until }) => since < to && (until === null || until > from))
  const { ms, byState, byProduct } = addedUp(
    fitting.map((interval) => ({ ...interval, ms: within(interval, { from, to }) })),
  )
  const found: [string, number][] = [
    ['all', ms],
    ...Object.entries(byState),
    ...byProduct.map(({ product, ms }): [string, number] => [product.productId!, ms]),
  ]
  return Object.fromEntries(found.filter(([, n]) => n > 0))
}

test('10,000 histories: the sums are those of the second computation, whatever the period and its split', () => {
  for (let seed = 1; seed <= quickCount(10_000, 5); seed++) {
    const next = seeded(seed)
    const events = historyOf(next)
    const intervals = intervalsOf(events)
    const [a, b, c] = [next(), next(), next()].map((x) => begin + Math.floor(x * length)).toSorted((x, y) => x - y) as [
      number,
      number,
      number,
    ]
    for (const [from, to] of [
      [a, b],
      [b, c],
      [a, c],
    ] as const)
      expect({ seed, ...asSums(intervals, from, to) }).toEqual({ seed, ...sums(events, from, to) })
    const [left, right, whole] = [asSums(intervals, a, b), asSums(intervals, b, c), asSums(intervals, a, c)]
    for (const key of Object.keys(whole)) expect((left[key] ?? 0) + (right[key] ?? 0)).toBe(whole[key]!)
  }
})

test('months in UTC follow each other without a gap, through leap years and changes of the hour', () => {
  let month = '2024-01'
  for (let i = 0; i < 60; i++) {
    const { from, to } = wholeMonth(month)
    expect(monthOf(from)).toBe(month)
    expect(monthOf(to - 1)).toBe(month)
    const next = monthAfter(month, 1)
    expect(wholeMonth(next).from).toBe(to)
    expect(monthAfter(next, -1)).toBe(month)
    month = next
  }
  expect(wholeMonth('2028-02').to - wholeMonth('2028-02').from).toBe(29 * 86_400_000)
})
