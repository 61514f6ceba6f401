// Starts what the clock starts: the `schedule` of every feature.
import { minute } from '../kernel/db/clock.ts'
import { isDatabaseError } from '../kernel/db/health.ts'
import { whenHealed } from '../kernel/db/open.ts'
import type { ScheduleContext, ScheduledWork } from '../kernel/feature.ts'
import { log } from '../kernel/log.ts'

/** `finish`: the last turn of what has one at a stop. */
export type Schedule = { stop(): void; finish(): Promise<void> }

/**
 * Starts the timers. Work that fails is tried again at its next turn; where the database could not be
 * written, as soon as it can, and every minute.
 */
export function startSchedule(schedule: readonly ScheduledWork[], context: ScheduleContext): Schedule {
  const missed = new Set<ScheduledWork>()
  let stopped = false
  async function begin(scheduled: ScheduledWork) {
    if (stopped) return
    missed.delete(scheduled)
    try {
      await scheduled.work(context)
    } catch (error) {
      // The journal says once why the database cannot be written, not for each work at each turn.
      if (isDatabaseError(error)) missed.add(scheduled)
      else log.error(`${scheduled.words} failed`, { error })
    }
  }
  const catchUp = () => void [...missed].map(begin)
  whenHealed(context.db, catchUp)
  const timers = [
    ...schedule.map((scheduled) => setInterval(() => begin(scheduled), scheduled.everyMs)),
    setInterval(catchUp, minute),
  ]
  return {
    stop() {
      stopped = true
      timers.forEach(clearInterval)
    },
    async finish() {
      for (const { work, words, atStop } of schedule)
        try {
          if (atStop) await (atStop === true ? work : atStop)(context)
        } catch (error) {
          log.error(`${words} failed at the stop`, { error })
        }
    },
  }
}
