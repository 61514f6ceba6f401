// Which backups of a server go, by what its plan keeps.
import { localDates, mondayOf } from './days.ts'

export type Keep = { keepLast: number; keepDaily: number; keepWeekly: number; keepMonthly: number }
/** A backup that is whole; `startedAt` in ms. */
export type Whole = { id: string; startedAt: number }

/**
 * The backups that nothing keeps, oldest first. Kept are the last `keepLast`, and the newest one of each of the last so
 * many days, weeks and months that have one; they are those of the time zone, so a day of 23 or 25 hours is one day.
 * The newest backup is always kept.
 */
export function expendable<B extends Whole>(backups: readonly B[], keep: Keep, timeZone: string): B[] {
  const newestFirst = backups.toSorted((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
  const dateOf = localDates(timeZone)
  const kept = new Set(newestFirst.slice(0, Math.max(1, keep.keepLast)))
  const rules: readonly (readonly [n: number, periodOf: (date: string) => string])[] = [
    [keep.keepDaily, (date) => date],
    [keep.keepWeekly, mondayOf],
    [keep.keepMonthly, (date) => date.slice(0, 7)],
  ]
  for (const [n, periodOf] of rules) {
    const periods = new Set<string>()
    for (const backup of newestFirst) {
      const period = periodOf(dateOf(backup.startedAt))
      if (periods.has(period)) continue
      if (periods.size >= n) break
      periods.add(period)
      kept.add(backup)
    }
  }
  return newestFirst.filter((backup) => !kept.has(backup)).reverse()
}

/** `The last 3, 7 daily, 4 weekly` */
export const keepWords = ({ keepLast, keepDaily, keepWeekly, keepMonthly }: Keep): string =>
  [
    keepLast === 1 ? 'The last one' : `The last ${keepLast}`,
    keepDaily && `${keepDaily} daily`,
    keepWeekly && `${keepWeekly} weekly`,
    keepMonthly && `${keepMonthly} monthly`,
  ]
    .filter(Boolean)
    .join(', ')
