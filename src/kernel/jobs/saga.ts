// A job is a list of steps. Four kinds, because there are four ways to be safe against a crash:
//   record    changes our database. It commits together with the note that it is done, so it happens exactly once.
//   command   changes a node. It may be sent again after a crash, so it carries a key and converges.
//   external  changes something behind HTTP, S3, SMTP or DNS. It is called again after a failure, with the same key.
//   jobs      starts child jobs and waits until all have ended. They start together with the note of their ids.
// When a step fails, every step that was started is undone, backwards. An undo works on "never happened" too. An undo
// on another node than the job's own may run late, when the job holds nothing any more: until then the feature refuses
// whatever would meet the leftovers, such as a second move to that node.
//
// A saga may have a pivot, its point of no return: a record step, or a command that cannot be undone. Until it is
// done, a failure, a cancellation or the loss of a node undoes the job. From then on the job only goes forward: a step
// that fails is tried again until it is done, and the types allow no undo. While the answer to a pivot command is out,
// nobody knows on which side of it the job is, so nothing ends the job. A saga that promises something from its start
// has its pivot before its first step.
import type { CommandFailure, CommandName, NodeCommand, Output } from '../../../agent/protocol/wire.ts'
import type { Scope } from '../api/access.ts'
import type { Secrets } from '../crypto/secrets.ts'
import type { Clock } from '../db/clock.ts'
import type { Db, Tx } from '../db/open.ts'
import type { Services } from '../register.ts'
import type { ExplainedFailure } from './failures.ts'
import type { Lane } from './tables.ts'
import type { Stored } from './unstored.ts'

/** The thing that a job works on. `type` is a word of the feature that starts it; the kernel knows no types. */
export type Subject = { type: string; id: string }

/**
 * `I`: the job's input; its field `unstored` is never stored, and lost at a restart. `O`: what the steps before
 * answered, by the name of the step.
 */
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
  undoAtOnce?: boolean
  losesData?: true
  /** From the note of this step on the job only goes forward. */
  pivot?: true
  reaches?(ctx: any): string
}
export type CommandStep = {
  kind: 'command'
  name: string
  words: string
  do(ctx: any, source: CommandSource): NodeCommand | undefined
  undo?(ctx: any, source: CommandSource): NodeCommand | undefined
  remedy?: Remedy
  abandonable?: true
  /** As of a record step; from its note as started until its answer nothing ends the job. */
  pivot?: true
  reaches?(ctx: any): string
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
  losesData?: true
}
export type Step = RecordStep | CommandStep | ExternalStep | JobsStep

/** A job that a step starts. With `holds` it waits for that lock; a lock that its parent holds covers the child too. */
export type ChildJob = {
  saga: Saga
  input: unknown
  title: string
  holds?: string
  nodeId?: string | null
  otherNodeId?: string | null
  subject?: Subject
}
/** A child job with the input that its saga takes. */
export const childJob = <I>(saga: Saga<I, any>, input: I, about: Omit<ChildJob, 'saga' | 'input'>): ChildJob => ({
  saga,
  input,
  ...about,
})

export type SagaOptions = {
  /** The name of the kind as people say it, such as Installation. Without it: the kind. */
  title?: string
  /** Only staff see such jobs, so only they are offered the kind to filter by. */
  forStaff?: true
  /**
   * Past its pivot it comes to its end before a job that supersedes it begins. For a change of a node that must not
   * stay half recorded. Without it the job that supersedes it stops it where it is.
   */
  neverStops?: true
  /**
   * Its commands go to another node than the job's own, too. The undo of each of its record steps then says by
   * `undoAtOnce` whether it waits for that node.
   */
  twoNodes?: true
  /** `interactive` (the default) for what takes seconds, `build` for making a system, `bulk` for backups and copies. */
  lane?: Lane
  /**
   * The scope with which a person or token cancels such a job before its pivot. Without it, only a job that supersedes
   * this one stops it.
   */
  cancelWith?: Scope
  /**
   * When it ends before it has begun, because somebody refused or superseded it. Without it the undo of the first step
   * runs, if that is a record step.
   */
  unbegun?(tx: Tx, input: any): void
  /**
   * The secrets in its input, which must survive a restart: they are erased from the input and from what its steps
   * answered, in the transaction that ends the job for good.
   */
  secrets?(input: any): readonly (string | null)[]
  /**
   * How long it waits for a node that is away, in ms, before it is undone; nothing: 15 minutes. For a job that keeps a
   * guest off meanwhile.
   */
  awayMs?(ctx: Pick<Ctx<any, any>, 'input' | 'out'>): number | undefined
  /** The action of its subject that does the same again, such as `restart`; it is offered when the job has failed. */
  retry?(input: any): string
}

/** How often an external step is tried when it says nothing: with the usual pauses about ten minutes in all. */
const USUAL_TRIES = 8

/** `back`: the steps before the pivot, which are undone. `forward`: those after it, which are done at last. */
type Way = 'back' | 'forward'
/** An undo, which only a step before the pivot has. */
type Undo<W extends Way, F> = W extends 'back' ? F : never
/** After the pivot a command has no output when its node was removed or lost: nothing is done there any more. */
type Answered<W extends Way, N extends string, T> = W extends 'back' ? Record<N, T> : Partial<Record<N, T>>
/** The type that an output must have because an undo reads it. */
type Promised<L, N extends string> = N extends keyof L ? L[N] : unknown
/** Before the pivot a step reads all of its input; afterwards, and in an undo, what is stored. */
type Read<W extends Way, I> = W extends 'back' ? I : Stored<I>
type Made<O, N extends string, T, L> = O & Partial<Record<N, T>> & Partial<L>

/** `I`: the input. `O`: the outputs of the steps so far. `L`: outputs of later steps that an undo reads. */
export class Saga<I = any, O = any, L = any, W extends Way = any> {
  constructor(
    readonly kind: string,
    readonly options: SagaOptions,
    /** Its pivot lies before its first step. */
    readonly onlyForward: boolean,
    readonly steps: readonly Step[] = [],
  ) {}

  /**
   * `words` is what the person reads while it happens. `undoAtOnce`: the undo does not depend on what later steps left
   * on a node, so it also runs when the rest of the undo has to wait for a node that is away. In a saga of two nodes
   * every undo says it, and one that touches the subject with true: with false it may run when the job holds nothing
   * any more, so it gives back only what is held for the leftovers there.
   * `losesData`: when it answers something, data of the subject is gone for good from here on, also when the job fails
   * and is undone.
   */
  record<N extends string, T extends Promised<L, N>>(
    name: N,
    words: string,
    step: {
      do(tx: Tx, ctx: Ctx<Read<W, I>, O>): T
      undo?: Undo<W, (tx: Tx, ctx: Ctx<Stored<I>, Made<O, N, T, L>>) => void>
      undoAtOnce?: Undo<W, boolean>
      losesData?: true
    },
  ): Saga<I, O & Record<N, T>, L, W> {
    return this.with({ kind: 'record', name, words, ...step } as Step)
  }

  /**
   * The point of no return, a record step: a failure or a cancellation until it is noted undoes the steps before it,
   * and none afterwards does. What it throws fails the job, so it is the last moment to refuse. `reaches`: the node
   * with which it goes on; while that is away, the job waits for it as before a pivot command, up to 15 minutes.
   */
  pivot<N extends string, T>(
    name: N,
    words: string,
    step: {
      do(tx: Tx, ctx: Ctx<Read<W, I>, O>): T
      reaches?(ctx: Ctx<Read<W, I>, O>): string
      losesData?: true
    },
  ): W extends 'back' ? Saga<I, O & Record<N, T>, L, 'forward'> : never {
    return this.with({ kind: 'record', name, words, pivot: true, ...step }) as never
  }

  /**
   * A command that cannot be undone, as the point of no return: when the node says that it failed, the job is
   * undone. The node answers that only when it has done nothing. Without a command to send it is a point alone.
   * `reaches`: as of `pivot`.
   */
  pivotCommand<N extends string, C extends CommandName>(
    name: N,
    words: string,
    step: {
      do(ctx: Ctx<Read<W, I>, O>, source: CommandSource): NodeCommand<C> | undefined
      reaches?(ctx: Ctx<Read<W, I>, O>): string
      remedy?: Remedy<CommandFailure<C>>
    },
  ): W extends 'back' ? Saga<I, O & Record<N, Output<C>>, L, 'forward'> : never {
    return this.with({ kind: 'command', name, words, pivot: true, ...step } as Step) as never
  }

  /**
   * `do` may answer undefined: there is nothing to send. Undo also runs for a command that was sent and never answered.
   * `abandonable`: a job that is cancelled does not wait for the answer, because the command only looks or waits.
   */
  command<N extends string, C extends CommandName>(
    name: N,
    words: string,
    step: {
      do(ctx: Ctx<Read<W, I>, O>, source: CommandSource): NodeCommand<C> | undefined
      undo?: Undo<W, (ctx: Ctx<Stored<I>, Made<O, N, Output<C>, L>>, source: CommandSource) => NodeCommand | undefined>
      remedy?: Remedy<CommandFailure<C>>
      abandonable?: true
    },
  ): Saga<I, O & Answered<W, N, Output<C>>, L, W> {
    return this.with({ kind: 'command', name, words, ...step } as Step)
  }

  /**
   * `do` and `undo` converge under their key. What `do` throws is tried again with growing pauses, `tries` times in
   * all, unless it is an `ApiError` or an `ExternalFailed` that is permanent; after the pivot for ever. `undo` is tried
   * until it is done. The signal aborts at cancel and stop.
   */
  external<N extends string, T extends Promised<L, N>>(
    name: N,
    words: string,
    step: {
      do(ctx: Ctx<Read<W, I>, O>, call: ExternalCall): Promise<T>
      undo?: Undo<W, (ctx: Ctx<Stored<I>, Made<O, N, T, L>>, call: ExternalCall) => Promise<void>>
      tries?: Undo<W, number>
    },
  ): Saga<I, O & Record<N, T>, L, W> {
    return this.with({ kind: 'external', name, words, tries: USUAL_TRIES, ...step } as Step)
  }

  /**
   * Starts child jobs and waits until all have ended; the step's output is their ids. It fails with `child_failed` when
   * one failed. Its undo cancels the children that are open and not past their pivot, and waits for all; what a child
   * that succeeded did is undone by a step after this one. `losesData`: when it starts a job, data is gone for good.
   */
  jobs<N extends string>(
    name: N,
    words: string,
    step: { start(tx: Tx, ctx: Ctx<Read<W, I>, O>): readonly ChildJob[]; losesData?: true },
  ): Saga<I, O & Record<N, readonly string[]>, L, W> {
    return this.with({ kind: 'jobs', name, words, ...step })
  }

  /** The steps at which data of the subject may be lost for good. */
  get losingSteps(): readonly Step[] {
    return this.steps.filter((step) => 'losesData' in step && step.losesData)
  }

  get hasPivot(): boolean {
    return this.onlyForward || pivotOf(this) !== undefined
  }

  get title(): string {
    return this.options.title ?? this.kind
  }

  /** A job of the same steps that was promised when it was started: it is never undone. */
  promised(kind: string, title: string): Saga<I, O, L, 'forward'> {
    const steps = this.steps.map(({ undo, ...step }: Step & { undo?: unknown }) => step as Step)
    return new Saga<I, O, L, 'forward'>(kind, { title }, true, steps)
  }

  private with(step: Step): Saga<any, any, any, any> {
    if (this.steps.some(({ name }) => name === step.name)) throw new Error(`${this.kind} has two steps ${step.name}`)
    if (this.options.twoNodes && step.kind === 'record' && step.undo && step.undoAtOnce === undefined)
      throw new Error(`${this.kind} is of two nodes: the undo of ${step.name} must say undoAtOnce, true or false`)
    return new Saga(this.kind, this.options, this.onlyForward, [...this.steps, step])
  }
}

/**
 * A job that is undone when a step fails before its pivot. `kind` is what the job list shows and filters by. `L` names
 * outputs of later steps that an undo reads; each is checked where its step is declared.
 */
export const saga = <I, L = {}>(kind: string, options: SagaOptions = {}) =>
  new Saga<I, {}, L, 'back'>(kind, options, false)

/** A job that was promised when it was started, like a termination: its pivot lies before its first step. */
export const forwardSaga = <I>(kind: string, options: Omit<SagaOptions, 'cancelWith' | 'retry'> = {}) =>
  new Saga<I, {}, {}, 'forward'>(kind, options, true)

/** How far each step of a job is, by its name. */
type States = Readonly<Record<string, { state: string }>>
const pivotOf = ({ steps }: Saga): Step | undefined => steps.find((step) => 'pivot' in step && step.pivot)

/** Is the job past its point of no return? */
export function isPastPivot(saga: Saga, noted: States): boolean {
  const pivot = pivotOf(saga)
  return saga.onlyForward || (pivot !== undefined && noted[pivot.name]?.state === 'done')
}

/** Was a pivot command sent whose answer has not come? */
export function isInDoubt(saga: Saga, noted: States): boolean {
  const pivot = pivotOf(saga)
  return pivot?.kind === 'command' && noted[pivot.name]?.state === 'started'
}
