// The hours of the day within which servers begin.
import type { ImportLimits } from '../import-records/model.ts'

type Window = NonNullable<ImportLimits['window']>

const formats = new Map<string, Intl.DateTimeFormat>()
/** Making a format takes longer than asking it. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  formats.set(timeZone, made)
  return made
}

/** Is this moment, in ms, within the window? Its end does not belong to it; from 22:00 to 05:00 is over midnight. */
export function isWithin({ from, to, timeZone }: Window, at: number): boolean {
  const now = formatOf(timeZone).format(at)
  if (from === to) return true
  return from < to ? from <= now && now < to : now >= from || now < to
}
