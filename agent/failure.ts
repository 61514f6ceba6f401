/** A command that failed: a code for the controller and a message for the person who reads the job. */
export class Failure extends Error {
  constructor(
    readonly code: string,
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
