/** A command that could not be done, with a code the controller can act on and words for the person who reads the job. */
export class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** What went wrong as the wire carries it. Anything that is not a `Failure` is our own mistake and says so. */
export const failureOf = (error: unknown): { code: string; message: string } => ({
  code: error instanceof Failure ? error.code : 'agent_error',
  message: wordsOf(error).slice(0, 2000),
})

/** The message of anything that can be thrown, with its cause. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}: ${wordsOf(error.cause)}`
}
