import { day, minute, second } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { MOST_POINTS, type Resolution, valuesOf } from './read.ts'
import type { Recent } from './recent.ts'

const WRITTEN = 'diskWrittenBytesPerSecond'

/**
 * About so many bytes a workload has written to its disks between two times, from its rates; null: none is known. The
 * newest minutes are in memory alone.
 */
export function writtenBetween(
  tx: Db,
  recent: Pick<Recent, 'minute' | 'live'>,
  id: string,
  { from, to }: { from: number; to: number },
): number | null {
  const resolution: Resolution = to - from <= Math.min(day, MOST_POINTS * minute) ? 60 : 21_600
  const stepMs = resolution * second
  const span = { from: from - (from % stepMs), to: Math.ceil(to / stepMs) * stepMs, resolution }
  const rates = valuesOf(tx, recent, id, span)
  const known = rates[WRITTEN].flatMap((rate, n) => {
    if (rate === null) return []
    const begins = span.from + n * stepMs
    const ms = Math.min(to, begins + stepMs) - Math.max(from, begins)
    return [(rate * Math.max(0, ms)) / second]
  })
  return known.length ? Math.round(known.reduce((sum, one) => sum + one, 0)) : null
}
