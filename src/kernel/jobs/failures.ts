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

/** The codes with which the runner itself fails a job; every other code comes from the node or from a step. */
export const jobFailures = {
  cancelled: 'Somebody cancelled the job, or another job superseded it.',
  node_unreachable: 'The node stayed away for 15 minutes.',
  node_removed: 'The node was removed or declared lost.',
  child_failed: 'One of its child jobs failed.',
} as const
