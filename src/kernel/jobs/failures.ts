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

/** The last lines of a failed job. */
export const lastLines = {
  undone: 'Failed. Everything it had changed was rolled back.',
  undoLeft: 'Failed. A node is away: what is left there is rolled back when it is back.',
} as const

/** The codes with which the runner itself fails a job; every other code comes from the node or from a step. */
export const jobFailures = {
  cancelled: 'Somebody cancelled the job, or another job superseded it.',
  node_unreachable: 'The node stayed away for 15 minutes.',
  node_removed: 'The node was removed or declared lost.',
  child_failed: 'One of its child jobs failed.',
  input_lost: 'Berth restarted while the job had an input that is never stored. Enter it again.',
} as const

/**
 * Code of a failed job → its cause, as a sentence for every reader. `true`: the controller writes the message of the
 * failure for everybody, and it names nothing of a node.
 */
export type FailureWords = Readonly<Record<string, string | true>>

/** Failures of the runner itself, and those that every command can have. */
export const kernelFailures = {
  agent_error: 'The software on the node has a fault.',
  agent_outdated: 'The software on the node is too old for it.',
  bad_answer: 'The node sent an answer that Berth does not understand.',
  cancelled: true,
  input_lost: true,
  child_failed: 'One of the jobs that it started failed.',
  internal_error: 'Berth itself has a fault.',
  invalid_command: 'The node refused the command.',
  node_removed: 'The node was removed.',
  node_unreachable: 'The node could not be reached.',
  tool_failed: 'A command failed on the node.',
  tool_missing: 'A program is missing on the node.',
  tool_timeout: 'A command on the node took too long.',
} as const satisfies FailureWords

/**
 * One sentence about why it failed, for every reader: the message may hold paths, commands and names of a node, which
 * only staff may read. Of a code that `words` lacks it says where it failed only.
 */
export function plainCause(words: FailureWords, { code, message }: Failure): string {
  const known = Object.hasOwn(words, code) ? words[code] : undefined
  return known === true ? message : (known ?? 'The node reported an error.')
}

/** A failure with its cause for every reader. */
export type ExplainedFailure = Failure & { cause: string }
