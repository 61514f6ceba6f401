import type { FilesFailure } from './protocol/backup.ts'
import type { CommandFailure } from './protocol/wire.ts'

/** Codes that no command answers: of the link to the controller, of consoles, and of parts that a handler asks. */
type InnerCode =
  | FilesFailure
  | 'busy'
  | 'controller_key_changed'
  | 'fault'
  | 'guest_agent_broken'
  | 'guest_agent_silent'
  | 'guest_frozen'
  | 'guest_refused'
  | 'guest_timeout'
  | 'insecure_controller'
  | 'invalid_answer'
  | 'invalid_controller'
  | 'invalid_pin'
  | 'invalid_uplink'
  | 'no_serial_line'
  | 'no_token'
  | 'not_enrolled'
  | 'not_rfb'
  | 'not_running'
  | 'pools_file'
  | 'release_not_fetched'
  | 'release_not_started'
  | 'silent'
  | 'unreachable'
  | 'announce_failed'
export type FailureCode = CommandFailure | InnerCode

/** A command that failed: a code for the controller and a message for the person who reads the job. */
export class Failure extends Error {
  constructor(
    readonly code: FailureCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** An error in the form that the wire carries. One that is not a `Failure` is a defect of ours: `agent_error`. */
export const failureOf = (error: unknown): { code: string; message: string } => ({
  code: error instanceof Failure ? error.code : 'agent_error',
  message: wordsOf(error).slice(0, 2000),
})

/** The message of anything that can be thrown, followed by the messages of its causes. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${wordsOf(error.cause)}`
}

/** A command failed with a code that it does not declare: a defect, which the controller reads as `agent_error`. */
export class UndeclaredFailure extends Error {
  constructor(
    readonly command: string,
    failure: Failure,
  ) {
    super(`${command} does not declare the failure ${failure.code}`, { cause: failure })
  }
}
