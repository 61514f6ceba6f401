/** Why a job or a step failed: a code that programs read and a sentence that people read. */
export type Failure = { code: string; message: string }

/** The failure of a command, with the code that the node or the hub gave it. */
export class CommandFailed extends Error {
  constructor(
    readonly failure: string,
    message: string,
  ) {
    super(message)
  }
}

/** The failure of an external step. `permanent`: trying again cannot help, so the step fails at once. */
export class ExternalFailed extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly permanent = false,
  ) {
    super(message)
  }
}

/** The runner is stopping: the job goes on at the next start. */
export class Stopped extends Error {}
/** The job waits for its child jobs and goes on when all have ended. */
export class Parked extends Error {}
/** Only tests throw it: it stands for a crash of the controller. */
export class InjectedCrash extends Error {}

/** A job that an error outside its steps stopped, e.g. one of the database. It is begun again. */
export type Interrupted = {
  jobId: string
  /** The error that stopped it, as a sentence. */
  reason: string
  /** The database cannot be written: the job is begun again as soon as it can. */
  byDatabase: boolean
  since: number
  tries: number
  /** When it is begun again; in ms of `performance.now()`. */
  againAt: number
  /** It has a place in its lane. */
  place: boolean
}

/** Jobs that were interrupted. Memory only: the next start begins them all. */
export class Interruptions {
  private jobs = new Map<string, Interrupted>()

  has = (jobId: string) => this.jobs.has(jobId)
  all = (): readonly Interrupted[] => [...this.jobs.values()]

  add(jobId: string, what: Pick<Interrupted, 'reason' | 'byDatabase' | 'place'>, now: number, pauseMs: Pause) {
    const before = this.jobs.get(jobId)
    const tries = (before?.tries ?? 0) + 1
    const againAt = performance.now() + pauseMs(tries)
    this.jobs.set(jobId, { jobId, ...what, since: before?.since ?? now, tries, againAt })
  }

  /** It went on, or has ended. */
  delete(jobId: string) {
    this.jobs.delete(jobId)
  }
}
type Pause = (tries: number) => number

/** The codes with which the runner itself fails a job; every other code comes from the node or from a step. */
export const jobFailures = {
  cancelled: 'Somebody cancelled the job, or another job superseded it.',
  node_unreachable: 'The node stayed away for 15 minutes.',
  node_removed: 'The node was removed or declared lost.',
  child_failed: 'One of its child jobs failed.',
} as const
