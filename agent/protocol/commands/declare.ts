// The form in which a command for nodes is declared. A file beside this one declares those of one driver.
import type { TSchema } from 'typebox'

/** Failures that every command can have: of the agent itself, and of the programs that it starts. */
export const everyFailure = ['agent_error', 'invalid_command', 'tool_failed', 'tool_missing', 'tool_timeout'] as const

/** `failures`: the codes with which it fails beside `everyFailure`. A handler's failure with another is a defect. */
type Declared<I extends TSchema, O extends TSchema, F extends readonly string[]> = { input: I; output: O; failures: F }

/** Says more about a command that acts. */
type Acting = {
  /**
   * It takes no turn among the commands of its workload, because it takes hours, or because it must also reach a vm
   * that is shutting down.
   */
  outOfTurn?: true
}

/**
 * A command that reads or waits, and changes nothing. It waits for no other command, and the node stores no answer of
 * it: asked again, it looks again.
 */
export const look = <I extends TSchema, O extends TSchema, const F extends readonly string[]>(
  command: Declared<I, O, F>,
) => ({ kind: 'look' as const, ...command })

/**
 * A command that changes the node. It converges: sent again, or sent when the host is already in that state, it has the
 * same effect and the same answer. Those of one workload run one after another.
 */
export const act = <I extends TSchema, O extends TSchema, const F extends readonly string[]>(
  command: Declared<I, O, F> & Acting,
) => ({ kind: 'act' as const, ...command })

export type CommandDeclaration = ReturnType<typeof look | typeof act> & Acting
