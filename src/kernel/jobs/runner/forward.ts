// The way of a job forward, step by step.
import type { NodeCommand } from '../../../../agent/protocol/wire.ts'
import { ApiError } from '../../api/errors.ts'
import { changeMade, type Tx } from '../../db/open.ts'
import { CommandFailed, ExternalFailed, type Failure } from '../failures.ts'
import {
  type CommandStep,
  type ExternalStep,
  isInDoubt,
  isPastPivot,
  type JobsStep,
  type RecordStep,
  type Saga,
  type Step,
} from '../saga.ts'
import { startChild } from '../start.ts'
import type { Job } from '../tables.ts'
import { type At, again, causeOf, type Execution, type Going, isElsewhere, isInterruption } from './execution.ts'

/** Ends a step's forward way without being its failure. */
class StopAsked extends Error {}

/** The node went away before the transaction that needs it. */
class AwayAgain extends Error {}

/** The remedy of a step worked: its command is made and sent anew. */
class SendAgain extends Error {}
/** How often a command with a remedy is sent in all. */
const MOST_SENDS = 3

/** `i`: the place of the step. `onlyForward`: the job is past its pivot. */
type Try = { i: number; tries: number; onlyForward: boolean }
type Sending = Omit<Try, 'i'> & { at: At }

export class Forward {
  constructor(private execution: Execution) {}

  /** Undefined when every step is done; else where it stopped and why. */
  async run(going: Going, saga: Saga): Promise<{ at: Step | undefined; error: Failure } | undefined> {
    const { job } = going
    for (const [i, step] of saga.steps.entries()) {
      if (going.noted[step.name]?.state === 'done') continue
      const onlyForward = isPastPivot(saga, going.noted)
      const mustEnd = onlyForward && !!saga.options.neverStops
      for (let tries = 1; ; tries++) {
        this.execution.mustGoOn()
        try {
          if (!mustEnd && !isInDoubt(saga, going.noted)) this.mustNotStop(going)
          await this.take(going, saga, step, { i, tries, onlyForward })
          await this.execution.forgetTries(going, tries)
          break
        } catch (cause) {
          if (isInterruption(cause)) throw cause
          if (cause instanceof SendAgain) continue
          // A stop fails what is under way; the next start asks the node again.
          this.execution.mustGoOn()
          await this.execution.writeCarried(going)
          // Of a job that is stopped before anything of it began, the first undo says that it failed.
          const first = i === 0 && step.kind === 'record' ? step : undefined
          const stop = cause instanceof StopAsked ? (going.stop ?? this.execution.cancelled(job.id)) : going.stop
          if (stop && !mustEnd) return { at: cause instanceof StopAsked ? first : step, error: stop }
          const error = this.execution.errorFrom(cause, job, step)
          if (!onlyForward && !this.mayTryAgain(cause, step, job.tries + tries)) return { at: step, error }
          await this.execution.tryLater(going, step, error, tries, 'forward')
        }
      }
    }
    return undefined
  }

  private mayTryAgain(cause: unknown, step: Step, tries: number): boolean {
    const permanent = cause instanceof ApiError || (cause instanceof ExternalFailed && cause.permanent)
    return step.kind === 'external' && !permanent && tries < step.tries
  }

  private async take(going: Going, saga: Saga, step: Step, { i, tries, onlyForward }: Try) {
    const { job } = going
    const at = { stepN: i + 1, stepName: step.words, progress: Math.round((i / saga.steps.length) * 100) }
    this.execution.failpoint(`${job.kind}/${step.name}:before`)
    if (step.kind === 'record') await this.takeRecord(going, step, at, tries)
    else if (step.kind === 'command') await this.takeCommand(going, saga, step, { at, tries, onlyForward })
    else if (step.kind === 'external') await this.takeExternal(going, step, at, tries)
    else await this.takeJobs(going, step, at, tries)
    this.execution.failpoint(`${job.kind}/${step.name}:noted`)
  }

  private async takeRecord(going: Going, step: RecordStep, at: At, tries: number) {
    const { job } = going
    if (tries === 1) this.execution.say(job.id, 'info', step.words)
    const reached = step.reaches?.(this.execution.ctx(job, going.noted))
    const output = await this.onceThere(going, reached, at, (tx) => {
      const ctx = this.execution.ctx(job, going.noted)
      const made = step.do(tx, ctx) ?? null
      changeMade(tx, causeOf(job))
      this.execution.notes.note(tx, job.id, step.name, 'done', made)
      this.execution.statements.at.run(at.stepN, at.stepName, at.progress, job.id)
      this.execution.statements.clear.run(job.id)
      if (step.pivot) this.passPivot(job)
      return made
    })
    going.noted[step.name] = { state: 'done', output: asStored(output) }
  }

  private async takeCommand(going: Going, { options }: Saga, step: CommandStep, { at, tries, onlyForward }: Sending) {
    const { job } = going
    const nodeCommand = step.do(this.execution.ctx(job, going.noted), this.execution.source)
    if (nodeCommand && step.undo && !options.twoNodes && isElsewhere(job, nodeCommand.nodeId))
      throw new Error(`${job.kind} sends ${step.name} to another node than its own, and does not say twoNodes`)
    if (!nodeCommand && !step.pivot) return this.carryDone(going, step, null, false)
    await this.noteStarted(going, step, at, tries, nodeCommand?.nodeId)
    if (!nodeCommand) return this.carryDone(going, step, null, false)
    // A key is answered once: trying again after a failure is a new command.
    const key = `${job.id}/${step.name}${again(job, tries)}`
    const output = await this.execution
      .sendOrGone(going, key, nodeCommand, onlyForward, step.abandonable)
      .catch((cause) => this.putRight(cause, going, step, nodeCommand, tries))
    this.execution.failpoint(`${job.kind}/${step.name}:answered`)
    this.execution.mustGoOn()
    this.carryDone(going, step, output, onlyForward)
  }

  /** Throws `SendAgain` when the step's remedy worked, and otherwise why it did not or the refusal itself. */
  private async putRight(cause: unknown, going: Going, step: CommandStep, sent: NodeCommand, tries: number) {
    const { job } = going
    const isKnown = cause instanceof CommandFailed && step.remedy?.codes.includes(cause.failure)
    if (!isKnown || job.tries + tries >= MOST_SENDS || going.stop) throw cause
    // First: after a crash the command goes out under its next key, whether the remedy was done or not.
    this.execution.notes.set(job.id, { tries: job.tries + tries })
    const { services, db, clock } = this.execution
    const ctx = this.execution.ctx(job, going.noted)
    await this.execution.call(going, (signal) => step.remedy!.do(ctx, { sent, db, clock, services, signal }))
    this.execution.failpoint(`${job.kind}/${step.name}:remedied`)
    throw new SendAgain()
  }

  private async takeExternal(going: Going, step: ExternalStep, at: At, tries: number) {
    const { job } = going
    await this.noteStarted(going, step, at, tries)
    const output = await this.execution.call(going, (signal) =>
      step.do(this.execution.ctx(job, going.noted), { key: `${job.id}/${step.name}`, signal }),
    )
    this.execution.failpoint(`${job.kind}/${step.name}:answered`)
    this.execution.mustGoOn()
    await this.noteDone(going, step, output ?? null)
  }

  private async takeJobs(going: Going, step: JobsStep, at: At, tries: number) {
    const { job } = going
    let ids = going.noted[step.name]?.output as string[] | null | undefined
    if (!ids) {
      if (tries === 1) this.execution.say(job.id, 'info', step.words)
      ids = this.execution.writeWith(going, (tx) => {
        const started = step
          .start(tx, this.execution.ctx(job, going.noted))
          .map((child) => startChild(tx, job, child, this.execution.clock()))
        changeMade(tx, causeOf(job))
        this.execution.notes.note(tx, job.id, step.name, 'started', started)
        this.execution.statements.at.run(at.stepN, at.stepName, at.progress, job.id)
        return started
      })
      going.noted[step.name] = { state: 'started', output: ids }
      this.execution.failpoint(`${job.kind}/${step.name}:started`)
    }
    if (this.execution.hasOpenChildren(job.id)) this.execution.park(job)
    this.execution.failpoint(`${job.kind}/${step.name}:answered`)
    const failed = ids.map((id) => this.execution.statements.job.get({ id })!).find((child) => child.state === 'failed')
    if (!failed) return await this.noteDone(going, step, ids)
    // The next try starts new ones.
    await this.execution.together(going, (tx) => this.execution.notes.note(tx, job.id, step.name, 'started', null))
    going.noted[step.name] = { state: 'started', output: null }
    throw new CommandFailed(
      'child_failed',
      `“${failed.title}” failed: ${failed.errorMessage ?? 'no reason was given.'}`,
    )
  }

  /** `to`: the node to which its command goes. */
  private async noteStarted(going: Going, step: Step, at: At, tries: number, to?: string) {
    const { job } = going
    if (tries === 1) this.execution.say(job.id, 'info', step.words)
    const isPivot = 'pivot' in step && step.pivot
    const isFirst = !going.noted[step.name]
    // One that its node has refused is in no doubt either, before it is sent again.
    const reached = isPivot && (isFirst || tries > 1) ? to : undefined
    if (isPivot && isFirst && 'reaches' in step && step.reaches)
      await this.onceThere(going, step.reaches(this.execution.ctx(job, going.noted)), at, () => {})
    await this.onceThere(going, reached, at, (tx) => {
      if (isPivot && isFirst) this.passPivot(job)
      this.execution.notes.note(tx, job.id, step.name, 'started', null)
      this.execution.statements.at.run(at.stepN, at.stepName, at.progress, job.id)
    })
    going.noted[step.name] = { state: 'started', output: null }
  }

  /**
   * The next transaction of the job notes it, so that a step costs one flush and not two. After a crash before that the
   * command is sent again, and the node answers the same from its journal.
   */
  private carryDone(going: Going, step: Step, output: unknown, clearsError: boolean) {
    const { job } = going
    going.carried.push((tx) => {
      this.execution.notes.note(tx, job.id, step.name, 'done', output)
      if (clearsError) this.execution.statements.clear.run(job.id)
    })
    going.noted[step.name] = { state: 'done', output: asStored(output) }
  }

  /** At once: the other side may not answer the same again. */
  private async noteDone(going: Going, step: Step, output: unknown) {
    this.carryDone(going, step, output, true)
    await this.execution.writeCarried(going)
  }

  /** In the transaction of the pivot's note. When a cancellation came first, the job is undone. */
  private passPivot({ id, nodeId, otherNodeId }: Job) {
    // Nothing brings back what a node took with it, so the job stays on this side.
    if ([nodeId, otherNodeId].some((node) => node !== null && this.execution.nodes.state(node) === 'gone'))
      throw new CommandFailed('node_removed', 'The node was removed from Berth.')
    if (!this.execution.statements.pivot.run(this.execution.clock(), id).changes) throw new StopAsked()
  }

  /**
   * A transaction of the job, while this node is not away. From the note of a pivot on nothing leads back until its
   * node has answered, so it is written only while the node is there.
   */
  private async onceThere<T>(going: Going, nodeId: string | undefined, at: At, work: (tx: Tx) => T): Promise<T> {
    if (nodeId === undefined) return await this.execution.together(going, work)
    for (;;) {
      await this.execution.waitFor(going, nodeId, at)
      this.mustNotStop(going)
      try {
        return await this.execution.together(going, (tx) => {
          if (this.execution.nodes.state(nodeId) === 'away') throw new AwayAgain()
          return work(tx)
        })
      } catch (cause) {
        if (!(cause instanceof AwayAgain)) throw cause
      }
    }
  }

  private mustNotStop(going: Going) {
    if (going.stop) throw new StopAsked()
  }
}

/** As a later start reads it from its row. */
const asStored = (output: unknown): unknown => (output === null ? null : JSON.parse(JSON.stringify(output)))
