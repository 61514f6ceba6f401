// Starts what the clock starts: the `schedule` of every feature.
import type { ScheduleContext, ScheduledWork } from '../kernel/feature.ts'
import { log } from '../kernel/log.ts'

/** Returns the function that stops it. Work that fails once, e.g. on a full disk, is tried again at its next turn. */
export function startSchedule(schedule: readonly ScheduledWork[], context: ScheduleContext): () => void {
  const timers = schedule.map(({ everyMs, words, work }) =>
    setInterval(async () => {
      try {
        await work(context)
      } catch (error) {
        log.error(`${words} failed`, { error })
      }
    }, everyMs),
  )
  return () => timers.forEach(clearInterval)
}
