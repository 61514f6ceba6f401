// The log of the command that is running. It travels with the call (AsyncLocalStorage) and not through argument lists,
// so that exec.ts can log every program that a driver runs.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Copied, LogLevel } from '../protocol/wire.ts'

export interface JobLog {
  line(level: LogLevel, text: string): void
  progress(percent: number, copied?: Copied): void
}

const current = new AsyncLocalStorage<JobLog>()

/** Runs `work` with `job` as its log. */
export const loggingTo = <T>(job: JobLog, work: () => T): T => current.run(job, work)

/** Writes a line to the job's log. Outside of a command it does nothing. */
export const say = (level: LogLevel, text: string) => current.getStore()?.line(level, text.slice(0, 4096))

/** Reports the command's progress, 0 to 100. The same number is sent once. */
export const progress = (percent: number) => current.getStore()?.progress(wholePercent(percent))

/** Reports how far a copy between nodes is. */
export const copyProgress = (copied: Copied) =>
  current.getStore()?.progress(wholePercent((100 * copied.copiedBytes) / Math.max(1, copied.totalBytes)), copied)

const wholePercent = (percent: number) => Math.max(0, Math.min(100, Math.floor(percent)))
