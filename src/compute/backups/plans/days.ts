// Dates as 2026-11-23, which compare as text.
import { day } from '../../../kernel/db/clock.ts'

/** Returns a function that tells the local date of a moment in ms. */
export function localDates(timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return (at) => format.format(at)
}

/** The Monday of the week of a date. */
export function mondayOf(date: string): string {
  const at = Date.parse(`${date}T00:00:00Z`)
  const sinceMonday = (new Date(at).getUTCDay() + 6) % 7
  return new Date(at - sinceMonday * day).toISOString().slice(0, 10)
}
