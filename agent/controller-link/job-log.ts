// The log of the command that is being obeyed. It travels with the call (AsyncLocalStorage) rather than through every
// argument list, so that drivers stay short and exec.ts can write down every program it runs.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { LogLevel } from '../protocol/wire.ts'

export interface JobLog {
  line(level: LogLevel, text: string): void
  progress(percent: number): void
}

const current = new AsyncLocalStorage<JobLog>()

/** Runs `work` with `job` as the place its lines go to. */
export const loggingTo = <T>(job: JobLog, work: () => T): T => current.run(job, work)

/** A line for the person who reads the job. Outside of a command it goes nowhere. */
export const say = (level: LogLevel, text: string) => current.getStore()?.line(level, text.slice(0, 4096))

/** How far the command is, 0 to 100. Repeats of the same number are not sent. */
export const progress = (percent: number) =>
  current.getStore()?.progress(Math.max(0, Math.min(100, Math.floor(percent))))
