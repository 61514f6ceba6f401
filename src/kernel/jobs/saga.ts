// A job is a list of steps. Four kinds, because there are four ways to be safe against a crash:
//   record    changes our database. It commits together with the note that it is done, so it happens exactly once.
//   command   changes a node. It may be sent again after a crash, so it carries a key and converges.
//   external  changes something behind HTTP, S3, SMTP or DNS. It is called again after a failure, with the same key.
//   jobs      starts child jobs and waits until all have ended. They start together with the note of their ids.
// When a step fails, every step that was started is undone, backwards. An undo works on "never happened" too.
import type { CommandFailure, CommandName, NodeCommand, Output } from '../../../agent/protocol/wire.ts'
import type { Scope } from '../api/access.ts'
import type { Secrets } from '../crypto/secrets.ts'
import type { Clock } from '../db/clock.ts'
import type { Db, Tx } from '../db/open.ts'
import type { Services } from '../register.ts'
import type { ExplainedFailure } from './failures.ts'
import type { Lane } from './tables.ts'

/** The thing that a job works on. `type` is a word of the feature that starts it; the kernel knows no types. */
export type Subject = { type: string; id: string }

/** `I`: the job's input. `O`: what the steps before answered, by the name of the step. */
export type Ctx<I, O> = {
  jobId: string
  input: I
  out: O
  now: number
  /** One line in the job's log, for the person who reads it. */
  log(text: string, level?: 'info' | 'warning'): void
  /** In the steps that run after something failed: what failed, and why in words for everybody. */
  error: ExplainedFailure | undefined
}

/**
 * `key` is the same at every try and after a restart: the other side, or the step, recognises a repeated call by it.
 */
export type ExternalCall = { key: string; signal: AbortSignal }

/**
 * Where a command takes what no job may hold, such as secrets: it is read each time that the command is sent.
 */
export type CommandSource = { db: Db; secrets: Secrets }

/**
 * Puts right what made the node refuse a command with one of these codes, such as a file that its publisher replaced.
 * The command is then made and sent anew. An error of `do` becomes the failure of the step.
 */
export type Remedy<F extends string = string> = { codes: readonly F[]; do(ctx: any, refused: Refused): Promise<void> }
/** `sent`: the command that the node refused. */
export type Refused = { sent: NodeCommand; db: Db; clock: Clock; services: Services; signal: AbortSignal }

export type RecordStep = {
  kind: 'record'
  name: string
  words: string
  do(tx: Tx, ctx: any): unknown
  undo?(tx: Tx, ctx: any): void
  undoAtOnce?: true
  losesData?: true
}
export type CommandStep = {
  kind: 'command'
  name: string
  words: string
  do(ctx: any, source: CommandSource): NodeCommand | undefined
  undo?(ctx: any, source: CommandSource): NodeCommand | undefined
  remedy?: Remedy
  abandonable?: true
}
export type ExternalStep = {
  kind: 'external'
  name: string
  words: string
  tries: number
  do(ctx: any, call: ExternalCall): Promise<unknown>
  undo?(ctx: any, call: ExternalCall): Promise<void>
}
export type JobsStep = {
  kind: 'jobs'
  name: string
  words: string
  start(tx: Tx, ctx: any): readonly ChildJob[]
}
export type Step = RecordStep | CommandStep | ExternalStep | JobsStep

/** A job that a step starts. With `holds` it waits for that lock; a lock that its parent holds covers the child too. */
export type ChildJob = {
  saga: Saga
  input: unknown
  title: string
  holds?: string
  nodeId?: string | null
  subject?: Subject
}
/** A child job with the input that its saga takes. */
export const childJob = <I>(saga: Saga<I, any>, input: I, about: Omit<ChildJob, 'saga' | 'input'>): ChildJob => ({
  saga,
  input,
  ...about,
})

export type SagaOptions = {
  /**
   * It cannot be undone and must come to its end: a step that fails is tried again with growing pauses, for ever, and
   * shown under Needs attention. For what was already promised, like a termination.
   */
  neverGivesUp?: true
  /**
   * With `neverGivesUp`: once it has begun it comes to its end before a job that supersedes it begins. For a change of
   * a node that must not stay half recorded.
   */
  neverStops?: true
  /** `interactive` (the default) for what takes seconds, `build` for making a system, `bulk` for backups and copies. */
  lane?: Lane
  /**
   * The scope with which a person or token cancels such a job. Without it, only a job that supersedes this one stops
   * it.
   */
  cancelWith?: Scope
  /** The action of its subject that does the same again, such as `restart`; it is offered when the job has failed. */
  retry?(input: any): string
}

/** How often an external step is tried when it says nothing: with the usual pauses about ten minutes in all. */
const USUAL_TRIES = 8

export class Saga<I = any, O = any> {
  constructor(
    readonly kind: string,
    readonly options: SagaOptions,
    readonly steps: readonly Step[] = [],
  ) {}

  /**
   * `words` is what the person reads while it happens. `undoAtOnce`: the undo does not depend on what later steps left
   * on a node, so it also runs when the rest of the undo has to wait for a node that is away. `losesData`: when it
   * answers something, data of the subject is gone for good from here on, also when the job fails and is undone.
   */
  record<N extends string, T>(
    name: N,
    words: string,
    step: {
      do(tx: Tx, ctx: Ctx<I, O>): T
      undo?(tx: Tx, ctx: Ctx<I, O & Partial<Record<N, T>>>): void
      undoAtOnce?: true
      losesData?: true
    },
  ): Saga<I, O & Record<N, T>> {
    return this.with({ kind: 'record', name, words, ...step } as Step)
  }

  /**
   * `do` may answer undefined: there is nothing to send. Undo also runs for a command that was sent and never answered.
   * `abandonable`: a job that is cancelled does not wait for the answer, because the command only looks or waits.
   */
  command<N extends string, C extends CommandName>(
    name: N,
    words: string,
    step: {
      do(ctx: Ctx<I, O>, source: CommandSource): NodeCommand<C> | undefined
      undo?(ctx: Ctx<I, O & Partial<Record<N, Output<C>>>>, source: CommandSource): NodeCommand | undefined
      remedy?: Remedy<CommandFailure<C>>
      abandonable?: true
    },
  ): Saga<I, O & Record<N, Output<C>>> {
    return this.with({ kind: 'command', name, words, ...step } as Step)
  }

  /**
   * `do` and `undo` converge under their key. What `do` throws is tried again with growing pauses, `tries` times in
   * all, unless it is an `ApiError` or an `ExternalFailed` that is permanent. `undo` is tried until it is done. The
   * signal aborts at cancel and stop.
   */
  external<N extends string, T>(
    name: N,
    words: string,
    step: {
      do(ctx: Ctx<I, O>, call: ExternalCall): Promise<T>
      undo?(ctx: Ctx<I, O & Partial<Record<N, T>>>, call: ExternalCall): Promise<void>
      tries?: number
    },
  ): Saga<I, O & Record<N, T>> {
    return this.with({ kind: 'external', name, words, tries: USUAL_TRIES, ...step } as Step)
  }

  /**
   * Starts child jobs and waits until all have ended; the step's output is their ids. It fails with `child_failed` when
   * one failed. Its undo cancels the children that are open; what a child that succeeded did is undone by a step after
   * this one.
   */
  jobs<N extends string>(
    name: N,
    words: string,
    step: { start(tx: Tx, ctx: Ctx<I, O>): readonly ChildJob[] },
  ): Saga<I, O & Record<N, readonly string[]>> {
    return this.with({ kind: 'jobs', name, words, ...step })
  }

  private with(step: Step): Saga<any, any> {
    return new Saga(this.kind, this.options, [...this.steps, step])
  }
}

/** `kind` is what the job list shows and filters by. */
export const saga = <I>(kind: string, options: SagaOptions = {}) => new Saga<I, {}>(kind, options)
