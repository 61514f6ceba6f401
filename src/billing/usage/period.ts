// Periods of reports. Months are those of UTC, for everybody.
import { Type as t } from 'typebox'
import { iso } from '../../kernel/db/clock.ts'

/** From `from` up to, and without, `to`, in ms. */
export type Period = { from: number; to: number }

/** The query parameter of a month. */
export const monthParameter = t.String({
  pattern: '^(19[7-9]\\d|[2-9]\\d{3})-(0[1-9]|1[0-2])$',
  title: 'a month like 2026-11',
  description: 'The month in UTC, like 2026-11. Without it: this month up to now.',
})

/** `2026-11` of a moment in ms. */
export const monthOf = (at: number): string => iso(at).slice(0, 7)
/** The month that is `by` months after this one; `by` may be negative. */
export function monthAfter(month: string, by: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return monthOf(Date.UTC(year, number - 1 + by))
}
/** The whole month. */
export const wholeMonth = (month: string): Period => ({
  from: Date.parse(`${month}-01T00:00:00Z`),
  to: Date.parse(`${monthAfter(month, 1)}-01T00:00:00Z`),
})
/** The month as far as it has passed; a month in the future has no length. */
export function passedOf(month: string, now: number): Period {
  const { from, to } = wholeMonth(month)
  return { from, to: Math.max(from, Math.min(to, now)) }
}

/** Days of 24 hours, to four decimals. */
export const daysOf = (ms: number): number => Math.round(ms / 8_640) / 10_000
/** Seconds, to the millisecond: sums of them are exact to the millisecond too. */
export const secondsOf = (ms: number): number => ms / 1000
