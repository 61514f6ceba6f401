// A job is a list of steps. Two kinds, because there are two ways to be safe against a crash:
//   record   changes our database. It commits together with the note that it is done, so it happens exactly once.
//   command  changes a node. It may be sent again after a crash, so it carries a key and converges.
// When a step fails, every step that was started is undone, backwards. An undo works on "never happened" too.
import type { CommandName, NodeCommand, Output } from '../../../agent/protocol/wire.ts'
import type { Tx } from '../db/open.ts'
import type { Lane } from './tables.ts'

export type Ctx<I, O> = {
  jobId: string
  input: I
  out: O
  now: number
  /** One line in the job's log, for the person who reads it. */
  log(text: string, level?: 'info' | 'warning'): void
  /** In the steps that run after something failed: what failed, in words. */
  error: { code: string; message: string } | undefined
}

export type RecordStep = {
  kind: 'record'
  name: string
  words: string
  do(tx: Tx, ctx: any): unknown
  undo?(tx: Tx, ctx: any): void
}
export type CommandStep = {
  kind: 'command'
  name: string
  words: string
  do(ctx: any): NodeCommand | undefined
  undo?(ctx: any): NodeCommand | undefined
}
export type Step = RecordStep | CommandStep

export type SagaOptions = {
  /**
   * It cannot be undone and must come to its end: a step that fails is tried again with growing pauses, for ever, and shown
   * under Needs attention. For what was already promised, like a termination.
   */
  neverGivesUp?: true
  /** `interactive` (the default) for what takes seconds, `build` for making a system, `bulk` for backups and copies. */
  lane?: Lane
}

export class Saga<I = any, O = any> {
  constructor(
    readonly kind: string,
    readonly options: SagaOptions,
    readonly steps: readonly Step[] = [],
  ) {}

  /** `words` is what the person reads while it happens. */
  record<N extends string, T>(
    name: N,
    words: string,
    step: { do(tx: Tx, ctx: Ctx<I, O>): T; undo?(tx: Tx, ctx: Ctx<I, O & Partial<Record<N, T>>>): void },
  ): Saga<I, O & Record<N, T>> {
    return new Saga<I, O & Record<N, T>>(this.kind, this.options, [
      ...this.steps,
      { kind: 'record', name, words, ...step } as Step,
    ])
  }

  /** `do` may answer undefined: there is nothing to send. Undo also runs for a command that was sent and never answered. */
  command<N extends string, C extends CommandName>(
    name: N,
    words: string,
    step: {
      do(ctx: Ctx<I, O>): NodeCommand<C> | undefined
      undo?(ctx: Ctx<I, O & Partial<Record<N, Output<C>>>>): NodeCommand | undefined
    },
  ): Saga<I, O & Record<N, Output<C>>> {
    return new Saga<I, O & Record<N, Output<C>>>(this.kind, this.options, [
      ...this.steps,
      { kind: 'command', name, words, ...step } as Step,
    ])
  }
}

/** `kind` is what the job list shows and filters by. */
export const saga = <I>(kind: string, options: SagaOptions = {}) => new Saga<I, {}>(kind, options)
