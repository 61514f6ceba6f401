import type { Static } from 'typebox'
import type { Host } from '../host/host.ts'
import type { CommandDeclaration } from '../protocol/commands/declare.ts'

/**
 * The handlers of these commands. One that acts converges on `input`; each throws a `Failure` with a code that its
 * command declares when the node cannot do it.
 */
export type Handlers<D extends Record<string, CommandDeclaration>> = {
  [N in keyof D]: (input: Static<D[N]['input']>, host: Host) => Promise<Static<D[N]['output']>>
}
