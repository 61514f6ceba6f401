// Carries jobs forward, back, and on after a crash.
//
// The tables hold everything that a crash must not lose; memory holds only which jobs are going right now. A record
// step commits in one transaction with the note that it is done. A command or external step is noted as started before
// it is sent, so that after a crash it is sent again under the same key, and so that its undo runs even when its answer
// never came. When a step fails, every step that was started is undone backwards; the job is not "failed" until that is
// done. An undo that fails is tried again with growing pauses.
//
// Two things end a job from outside. A cancellation stands in the table: the job stops before its next step and is
// undone. A node that stays away for 15 minutes: the job fails, and what must be undone there is kept in the table
// until the node is back or is gone.
import { asc, eq, inArray } from 'drizzle-orm'
import type { NodeCommand } from '../../../agent/protocol/wire.ts'
import { ApiError } from '../api/errors.ts'
import { type Clock, minute, second } from '../db/clock.ts'
import { type Db, type Tx, write } from '../db/open.ts'
import { CommandFailed, ExternalFailed, type Failure, InjectedCrash, Parked, Stopped } from './failures.ts'
import { Lanes } from './lanes.ts'
import { JobLog } from './log.ts'
import { Notes } from './notes.ts'
import type { CommandStep, Ctx, ExternalStep, JobsStep, RecordStep, Saga, Step } from './saga.ts'
import { requestCancel, startChild } from './start.ts'
import { type Job, jobs } from './tables.ts'

/** A job whose node is away waits this long, then fails with `node_unreachable`. */
export const AWAY_MS = 15 * minute
/** Nodes get this long to connect again after a start, before a wait that began earlier may end. */
export const RECONNECT_MS = 2 * minute
const LONGEST_PAUSE_MS = 10 * minute

/** `gone`: removed or lost, so nothing is left there to do. */
export type NodeState = 'connected' | 'away' | 'gone'
export type Nodes = {
  /** Resolves with the command's output, however long the node is away. Rejects with `CommandFailed`. */
  send(key: string, nodeCommand: NodeCommand): Promise<unknown>
  /** The command's promise rejects with this error at once, and its answer counts no more. */
  drop(key: string, error: CommandFailed): void
  state(nodeId: string): NodeState
  /** When the node went away, in ms, if that was since this controller started. */
  awaySince(nodeId: string): number | undefined
}
/** A line for the journal, beside the job's own log: the operator may have no panel open. */
export type Tell = (level: 'warning' | 'error', message: string, about: Readonly<Record<string, unknown>>) => void
/** Moments at which tests inject a crash. */
export type Failpoints = (moment: string) => void

/** A job at work. */
type Going = {
  job: Job
  promise: Promise<void>
  /** Why it must stop before its next step. */
  stop: Failure | undefined
  /** Has it a place in its lane? While it waits for a node that is away, others have it. */
  place: boolean
  inFlight: { key: string; nodeId: string; abandonable: boolean } | undefined
  /** The row may say since when it waits for a node. */
  waited: boolean
  /** Ends the pause before the next try. */
  wake: (() => void) | undefined
  abort: AbortController | undefined
}
type Options = {
  db: Db
  sagas: readonly Saga[]
  nodes: Nodes
  clock: Clock
  failpoints?: Failpoints | undefined
  /** How long until something that failed is tried again, for the nth time. */
  pauseMs?: ((tries: number) => number) | undefined
  tell?: Tell | undefined
}

/** Ends a step's forward way without being its failure. */
class StopAsked extends Error {}

export class Runner {
  readonly log: JobLog
  private db: Db
  private nodes: Nodes
  private clock: Clock
  private failpoint: Failpoints
  readonly pauseMs: (tries: number) => number
  private tell: Tell
  private going = new Map<string, Going>()
  private lanes = new Lanes()
  private lastQueued = 0
  private notes: Notes
  private sagas: ReadonlyMap<string, Saga>
  /** Jobs that wait for their children. */
  private parked = new Set<string>()
  /** Jobs that stopped by an error of ours: the next start tries them again. */
  private broken = new Set<string>()
  private stopping = false
  private startedAt: number
  private sweeping: Timer | undefined

  constructor({ db, sagas, nodes, clock, failpoints = () => {}, pauseMs, tell = () => {} }: Options) {
    this.db = db
    this.nodes = nodes
    this.clock = clock
    this.failpoint = failpoints
    this.pauseMs = pauseMs ?? ((tries) => Math.min(5 * second * 2 ** Math.min(tries - 1, 10), LONGEST_PAUSE_MS))
    this.tell = tell
    this.startedAt = clock()
    this.log = new JobLog(db)
    this.sagas = new Map(sagas.map((s) => [s.kind, s]))
    this.notes = new Notes(db, () => this.going.size)
    this.notes.afterEachWrite(() => this.kick())
  }

  // ---------------------------------------------------------------- what begins when

  /** At start: everything unfinished goes on, then what is queued begins. */
  start() {
    for (const { id, holds } of this.statements.pendingUndos.all()) this.lanes.lock(holds, id)
    for (const job of this.db
      .select()
      .from(jobs)
      .where(inArray(jobs.state, ['running', 'undoing']))
      .orderBy(asc(jobs.id))
      .all()) {
      this.lanes.lock(job.holds, job.id)
      this.begin(job)
    }
    this.sweep()
    this.kick()
  }

  /**
   * Begins queued jobs as far as their lanes allow, and tells jobs that they are cancelled. Called after every commit:
   * it asks only for what was queued since it last asked, and keeps the ids in a queue per lane of a node, so that a
   * hundred jobs for a node that is away delay nobody else's.
   */
  kick() {
    if (this.stopping) return
    for (const { rowid, ...job } of this.statements.queuedSince.all(this.lastQueued)) {
      this.lastQueued = rowid
      this.lanes.add(job)
    }
    for (const { id } of this.statements.cancelled.all()) this.cancel(id)
    for (const id of this.lanes.next((nodeId) => this.nodes.state(nodeId) !== 'away'))
      this.begin(this.statements.job.get({ id })!, true)
  }

  private cancel(id: string) {
    if (this.broken.has(id)) return
    const going = this.going.get(id)
    if (!going) {
      const job = this.statements.job.get({ id })!
      if (job.state === 'queued') this.lanes.drop(id)
      this.begin(job)
    } else if (!going.stop) this.stopBecause(going, cancelled(this.statements.job.get({ id })!))
  }

  /** A command at work on a node that is there is awaited, unless nothing depends on its end. */
  private stopBecause(going: Going, error: Failure) {
    going.stop = error
    going.wake?.()
    going.abort?.abort()
    const { inFlight } = going
    if (inFlight && (inFlight.abandonable || this.nodes.state(inFlight.nodeId) === 'away'))
      this.nodes.drop(inFlight.key, new CommandFailed(error.code, error.message))
  }

  /** Called when a node came, went or was removed: jobs that wait for it go on soon. */
  nodeChanged() {
    if (this.stopping) return
    this.sweeping ??= setTimeout(() => {
      this.sweeping = undefined
      this.sweep()
    })
  }

  /**
   * Ends what waited too long for a node that is away, frees its place for others meanwhile, and carries on what waited
   * for a node that is back or gone. Called every few seconds. A wait stands in the table, so that a restart does not
   * begin it anew.
   */
  sweep() {
    if (this.stopping) return
    const now = this.clock()
    const waits: [since: number | null, id: string][] = []
    for (const job of this.statements.open.all()) {
      const going = this.going.get(job.id)
      const nodeId = going ? going.inFlight?.nodeId : job.state === 'queued' ? job.nodeId : undefined
      const state = nodeId ? this.nodes.state(nodeId) : 'connected'
      if (going) this.place(going, state !== 'away')
      if (state !== 'away') {
        // A job between two commands may still be about to send to the same node: its answer ends the wait.
        if (job.waitingSince !== null && nodeId) waits.push([null, job.id])
        continue
      }
      const since = job.waitingSince ?? Math.max(this.nodes.awaySince(nodeId!) ?? now, job.createdAt)
      if (job.waitingSince === null) waits.push([since, job.id])
      if (going) going.waited = true
      if (now >= Math.max(since + AWAY_MS, this.startedAt + RECONNECT_MS)) this.giveUpOn(job.id, going)
    }
    if (waits.length)
      write(this.db, () => {
        for (const [since, id] of waits) this.statements.waits.run(since, id)
      })
    for (const { inFlight } of this.going.values())
      if (inFlight && this.nodes.state(inFlight.nodeId) === 'gone') this.nodes.drop(inFlight.key, removed())
    for (const { id, undoNodeId } of this.statements.pendingUndos.all())
      if (!this.going.has(id) && !this.broken.has(id) && this.nodes.state(undoNodeId) !== 'away')
        this.begin(this.statements.job.get({ id })!)
    this.kick()
  }

  /** A job that is being undone, or goes on for ever, keeps its error; only the one that may fail fails of this. */
  private giveUpOn(id: string, going: Going | undefined) {
    const job = going?.job ?? this.statements.job.get({ id })!
    const error = unreachable()
    if (!going) {
      if (this.sagas.get(job.kind)?.options.neverGivesUp) return
      this.lanes.drop(id)
      this.begin(job, false, error)
    } else if (going.inFlight) {
      if (going.job.state !== 'undoing' && this.sagas.get(job.kind)?.options.neverGivesUp) return
      if (going.job.state !== 'undoing') going.stop ??= error
      this.nodes.drop(going.inFlight.key, new CommandFailed(error.code, error.message))
    }
  }

  /** Resolves when nothing is going; for tests and for an orderly stop. */
  async idle() {
    while (this.going.size) await Promise.allSettled([...this.going.values()].map((g) => g.promise))
  }

  /** No new step begins. What is under way on nodes goes on there and is asked for again at the next start. */
  stop() {
    this.stopping = true
    clearTimeout(this.sweeping)
    for (const going of this.going.values()) {
      going.wake?.()
      going.abort?.abort()
    }
    this.log.stop()
  }

  private begin(job: Job, place = false, stop?: Failure) {
    const going: Going = {
      job,
      place,
      stop: stop ?? (job.cancelRequestedAt === null ? undefined : cancelled(job)),
      promise: Promise.resolve(),
      inFlight: undefined,
      waited: job.waitingSince !== null,
      wake: undefined,
      abort: undefined,
    }
    // Asynchronous from its first line on, so that nothing runs inside the write that kicked.
    going.promise = Promise.resolve()
      .then(() => this.run(going))
      .catch((error) => {
        if (error instanceof Parked || error instanceof Stopped) return
        this.broken.add(job.id)
        if (error instanceof InjectedCrash) throw error
        this.tell('error', 'a job stopped by an error in Berth itself', { ...ofJob(job), error })
      })
      .finally(() => {
        this.going.delete(job.id)
        this.place(going, false)
        if (this.stopping) return
        this.resume(job.id)
        if (job.parentId) this.resume(job.parentId)
        this.kick()
      })
    going.promise.catch(() => {})
    this.going.set(job.id, going)
  }

  /** A job that waited for its children goes on when all have ended. */
  private resume(id: string) {
    if (this.going.has(id) || !this.parked.has(id) || this.hasOpenChildren(id)) return
    this.parked.delete(id)
    this.begin(this.statements.job.get({ id })!)
  }

  private place(going: Going, wanted: boolean) {
    if (going.place === wanted) return
    going.place = wanted
    if (wanted) this.lanes.take(going.job)
    else this.lanes.give(going.job)
  }

  // ---------------------------------------------------------------- one job

  private async run(going: Going) {
    const { job } = going
    const saga = this.sagas.get(job.kind)
    if (!saga) throw new Error(`no saga of kind ${job.kind}`)
    let error = job.errorCode ? { code: job.errorCode, message: job.errorMessage ?? '' } : undefined
    if (job.undoNodeId !== null) return await this.finishUndo(going, saga, error)
    if (job.state !== 'undoing') {
      if (job.state === 'queued') {
        if (going.stop) return this.endUnbegun(job, saga, going.stop)
        await this.notes.together(() => this.statements.begun.run(this.clock(), job.id))
        job.state = 'running'
      }
      const stopped = await this.forward(going, saga)
      if (!stopped) return await this.end(job, 'succeeded')
      error = stopped.error
      // Nothing of it can be undone; what supersedes it brings the node to where it should be.
      if (saga.options.neverGivesUp) return await this.end(job, 'failed', error)
      this.turnBack(job, stopped.at, error)
      this.failpoint(`${job.kind}:failing`)
    }
    const waitsFor = await this.backward(going, saga, error)
    if (waitsFor) return this.endWithUndoLeft(job, saga, waitsFor, error)
    await this.end(job, 'failed')
    if (error?.code !== 'cancelled')
      this.tell('error', 'a job failed', { ...ofJob(job), code: error?.code, reason: error?.message })
  }

  /**
   * The step that failed is undone like the others, also when it is a record step and nothing of it was kept: its undo
   * may say that the whole has failed.
   */
  private turnBack(job: Job, failed: Step | undefined, error: Failure) {
    this.say(job.id, error.code === 'cancelled' ? 'warning' : 'error', error.message)
    write(this.db, (tx) => {
      if (failed && !this.notes.of(job.id)[failed.name]) this.notes.note(tx, job.id, failed.name, 'started', null)
      tx.update(jobs)
        .set({ state: 'undoing', errorCode: error.code, errorMessage: error.message, tries: 0 })
        .where(eq(jobs.id, job.id))
        .run()
    })
    job.tries = 0
    job.state = 'undoing'
  }

  /** Undefined when every step is done; else where it stopped and why. */
  private async forward(going: Going, saga: Saga): Promise<{ at: Step | undefined; error: Failure } | undefined> {
    const { job } = going
    const noted = this.notes.of(job.id)
    for (const [i, step] of saga.steps.entries()) {
      if (noted[step.name]?.state === 'done') continue
      for (let tries = 1; ; tries++) {
        this.mustGoOn()
        try {
          this.mustNotStop(going)
          await this.take(going, saga, step, i, tries)
          this.forgetTries(job, tries)
          break
        } catch (cause) {
          if (isInterruption(cause)) throw cause
          // A stop fails what is under way; the next start asks the node again.
          this.mustGoOn()
          // Of a job that is stopped before anything of it began, the first undo says that it failed.
          const first = i === 0 && step.kind === 'record' ? step : undefined
          if (going.stop) return { at: cause instanceof StopAsked ? first : step, error: going.stop }
          const error = this.errorFrom(cause, job, step)
          if (!this.mayTryAgain(cause, saga, step, job.tries + tries)) return { at: step, error }
          await this.tryLater(going, step, error, tries, 'forward')
        }
      }
    }
    return undefined
  }

  private mayTryAgain(cause: unknown, saga: Saga, step: Step, tries: number): boolean {
    if (saga.options.neverGivesUp) return true
    const permanent = cause instanceof ApiError || (cause instanceof ExternalFailed && cause.permanent)
    return step.kind === 'external' && !permanent && tries < step.tries
  }

  private async take(going: Going, saga: Saga, step: Step, i: number, tries: number) {
    const { job } = going
    const at = { stepN: i + 1, stepName: step.words, progress: Math.round((i / saga.steps.length) * 100) }
    this.failpoint(`${job.kind}/${step.name}:before`)
    if (step.kind === 'record') await this.takeRecord(job, step, at, tries)
    else if (step.kind === 'command') await this.takeCommand(going, saga, step, at, tries)
    else if (step.kind === 'external') await this.takeExternal(going, step, at, tries)
    else await this.takeJobs(going, step, at, tries)
    this.failpoint(`${job.kind}/${step.name}:noted`)
  }

  private async takeRecord(job: Job, step: RecordStep, at: At, tries: number) {
    if (tries === 1) this.say(job.id, 'info', step.words)
    await this.notes.together((tx) => {
      const output = step.do(tx, this.ctx(job)) ?? null
      this.notes.note(tx, job.id, step.name, 'done', output)
      this.statements.at.run(at.stepN, at.stepName, at.progress, job.id)
      this.statements.clear.run(job.id)
    })
  }

  private async takeCommand(going: Going, saga: Saga, step: CommandStep, at: At, tries: number) {
    const { job } = going
    const nodeCommand = step.do(this.ctx(job))
    if (!nodeCommand) return await this.notes.together((tx) => this.notes.note(tx, job.id, step.name, 'done', null))
    await this.noteStarted(job, step, at, tries)
    // A key is answered once: trying again after a failure is a new command.
    const key = `${job.id}/${step.name}${again(job, tries)}`
    const output = await this.sendOrGone(going, key, nodeCommand, !!saga.options.neverGivesUp, step.abandonable)
    this.failpoint(`${job.kind}/${step.name}:answered`)
    this.mustGoOn()
    await this.noteDone(job, step, output, !!saga.options.neverGivesUp)
  }

  private async takeExternal(going: Going, step: ExternalStep, at: At, tries: number) {
    const { job } = going
    await this.noteStarted(job, step, at, tries)
    const output = await this.call(going, (signal) => step.do(this.ctx(job), { key: `${job.id}/${step.name}`, signal }))
    this.failpoint(`${job.kind}/${step.name}:answered`)
    this.mustGoOn()
    await this.noteDone(job, step, output ?? null, true)
  }

  private async takeJobs({ job }: Going, step: JobsStep, at: At, tries: number) {
    let ids = this.notes.of(job.id)[step.name]?.output as string[] | null | undefined
    if (!ids) {
      if (tries === 1) this.say(job.id, 'info', step.words)
      ids = write(this.db, (tx) => {
        const started = step.start(tx, this.ctx(job)).map((child) => startChild(tx, job, child, this.clock()))
        this.notes.note(tx, job.id, step.name, 'started', started)
        this.statements.at.run(at.stepN, at.stepName, at.progress, job.id)
        return started
      })
      this.failpoint(`${job.kind}/${step.name}:started`)
    }
    if (this.hasOpenChildren(job.id)) this.park(job)
    this.failpoint(`${job.kind}/${step.name}:answered`)
    const failed = ids.map((id) => this.statements.job.get({ id })!).find((child) => child.state === 'failed')
    if (!failed) return await this.noteDone(job, step, ids, true)
    // The next try starts new ones.
    await this.notes.together((tx) => this.notes.note(tx, job.id, step.name, 'started', null))
    throw new CommandFailed(
      'child_failed',
      `“${failed.title}” failed: ${failed.errorMessage ?? 'no reason was given.'}`,
    )
  }

  private hasOpenChildren = (id: string) => this.statements.openChildren.get(id) !== null

  private park(job: Job): never {
    this.parked.add(job.id)
    throw new Parked()
  }

  private async noteStarted(job: Job, step: Step, at: At, tries: number) {
    if (tries === 1) this.say(job.id, 'info', step.words)
    await this.notes.together((tx) => {
      this.notes.note(tx, job.id, step.name, 'started', null)
      this.statements.at.run(at.stepN, at.stepName, at.progress, job.id)
    })
  }

  private noteDone = (job: Job, step: Step, output: unknown, clearsError: boolean) =>
    this.notes.together((tx) => {
      this.notes.note(tx, job.id, step.name, 'done', output)
      if (clearsError) this.statements.clear.run(job.id)
    })

  /** Answers the node for which the rest has to wait; undefined when all is undone. */
  private async backward(going: Going, saga: Saga, error: Failure | undefined): Promise<string | undefined> {
    const { job } = going
    for (const step of saga.steps.toReversed()) {
      const at = this.notes.of(job.id)[step.name]
      if (!at || at.state === 'undone') continue
      for (let tries = 1; ; tries++) {
        this.mustGoOn()
        try {
          const waitsFor = await this.takeBack(going, step, at.output, tries, error)
          if (waitsFor) return waitsFor
          this.forgetTries(job, tries)
          break
        } catch (cause) {
          if (isInterruption(cause)) throw cause
          // A stop fails what is under way; the next start asks the node again.
          this.mustGoOn()
          await this.tryLater(going, step, this.errorFrom(cause, job, step), tries, 'back')
        }
      }
      this.failpoint(`${job.kind}/${step.name}:undone`)
    }
    return undefined
  }

  /** Answers the node for which this undo has to wait. */
  private async takeBack(
    going: Going,
    step: Step,
    output: unknown,
    tries: number,
    error: Failure | undefined,
  ): Promise<string | undefined> {
    const { job } = going
    const ctx = { ...this.ctx(job), error }
    if (step.kind === 'record') {
      write(this.db, (tx) => {
        step.undo?.(tx, ctx)
        this.notes.note(tx, job.id, step.name, 'undone', output)
      })
      return undefined
    }
    if (step.kind === 'command') {
      const nodeCommand = step.undo?.(ctx)
      if (nodeCommand) {
        const { nodeId } = nodeCommand
        const waitsNoLonger =
          job.undoNodeId !== null || error?.code === 'cancelled' || error?.code === 'node_unreachable'
        if (waitsNoLonger && this.nodes.state(nodeId) === 'away') return nodeId
        this.sayUndo(job, step, tries)
        try {
          await this.sendOrGone(going, `${job.id}/${step.name}/undo${again(job, tries)}`, nodeCommand, true)
        } catch (cause) {
          if (cause instanceof CommandFailed && cause.failure === 'node_unreachable') return nodeId
          throw cause
        }
        this.failpoint(`${job.kind}/${step.name}:undo answered`)
      }
    } else if (step.kind === 'external') {
      if (step.undo) {
        this.sayUndo(job, step, tries)
        await this.call(going, (signal) => step.undo!(ctx, { key: `${job.id}/${step.name}/undo`, signal }))
        this.failpoint(`${job.kind}/${step.name}:undo answered`)
      }
    } else if (this.hasOpenChildren(job.id)) {
      write(this.db, (tx) => this.cancelChildren(tx, job, error))
      this.park(job)
    }
    this.mustGoOn()
    write(this.db, (tx) => this.notes.note(tx, job.id, step.name, 'undone', output))
    return undefined
  }

  private cancelChildren(tx: Tx, job: Job, error: Failure | undefined) {
    const by = { type: job.startedByType, id: job.startedById, name: job.startedByName }
    for (const id of this.statements.openChildren.all(job.id).map((child) => child.id))
      requestCancel(tx, id, by, `“${job.title}” ended: ${error?.message ?? ''}`.trim(), this.clock())
  }

  private sayUndo(job: Job, step: Step, tries: number) {
    if (tries === 1) this.say(job.id, 'info', `Undoing: ${step.words}`)
  }

  /** `mustEnd`: a node that is gone counts as done, because nothing is left there to clean up. */
  private async sendOrGone(
    going: Going,
    key: string,
    nodeCommand: NodeCommand,
    mustEnd: boolean,
    abandonable = false,
  ): Promise<unknown> {
    going.inFlight = { key, nodeId: nodeCommand.nodeId, abandonable }
    if (this.nodes.state(nodeCommand.nodeId) === 'away') this.nodeChanged()
    try {
      const output = await this.nodes.send(key, nodeCommand)
      if (going.waited && !this.stopping) this.notes.set(going.job.id, { waitingSince: null })
      going.waited = false
      return output
    } catch (error) {
      if (!mustEnd || !(error instanceof CommandFailed) || error.failure !== 'node_removed') throw error
      this.say(going.job.id, 'warning', 'The node was removed from Berth, so nothing is done there.')
      return null
    } finally {
      going.inFlight = undefined
      if (!this.stopping) this.place(going, true)
    }
  }

  private async call<T>(going: Going, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    going.abort = new AbortController()
    try {
      return await work(going.abort.signal)
    } finally {
      going.abort = undefined
    }
  }

  /** The next step starts counting anew; kept in step with the row, so that keys stay the same after a crash. */
  private forgetTries(job: Job, tries: number) {
    if (tries === 1 && job.tries === 0) return
    job.tries = 0
    this.notes.set(job.id, { tries: 0 })
  }

  /** Says what is wrong where people look for it, and waits. */
  private async tryLater(going: Going, step: Step, error: Failure, tries: number, taking: 'forward' | 'back') {
    const { job } = going
    const pause = this.pauseMs(job.tries + tries)
    const seconds = Math.ceil(pause / 1000)
    this.say(job.id, 'error', `${error.message} (trying again in ${seconds} s)`)
    const message =
      taking === 'back'
        ? 'a step of a job could not be undone and is tried again'
        : 'a step of a job failed and is tried again'
    this.tell('warning', message, {
      ...ofJob(job),
      step: step.name,
      code: error.code,
      reason: error.message,
      tries: job.tries + tries,
      againInSeconds: seconds,
    })
    // An undo keeps the reason for which the job failed: people ask for that one.
    const why = taking === 'back' ? {} : { errorCode: error.code, errorMessage: error.message }
    this.notes.set(job.id, { tries: job.tries + tries, ...why })
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pause)
      going.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    going.wake = undefined
    this.mustGoOn()
  }

  // ---------------------------------------------------------------- its end

  private async end(job: Job, state: 'succeeded' | 'failed', error?: Failure) {
    if (state === 'succeeded') this.say(job.id, 'info', 'Done.')
    else if (error) this.say(job.id, 'warning', `${error.message} It stopped where it was.`)
    else this.say(job.id, 'error', 'Failed; everything that was begun has been undone.')
    await this.notes.together((tx) => {
      this.ended(tx, job, {
        state,
        ...(error ? { errorCode: error.code, errorMessage: error.message } : {}),
      })
      this.notes.hasEnded(tx)
    })
    this.lanes.unlock(job.holds, job.id)
    this.failpoint(`${job.kind}:ended`)
  }

  private ended(tx: Tx, job: Job, values: Partial<typeof jobs.$inferInsert>) {
    this.log.flushInto(tx)
    if (values.state === 'succeeded') this.statements.succeeded.run(this.clock(), job.id)
    else
      tx.update(jobs)
        .set({ finishedAt: this.clock(), waitingSince: null, ...values })
        .where(eq(jobs.id, job.id))
        .run()
    if (job.parentId) this.progressOf(tx, job.parentId)
  }

  /** A job never began: only its first undo, which may say that the whole has failed, has something to do. */
  private endUnbegun(job: Job, saga: Saga, error: Failure) {
    this.say(job.id, 'warning', error.message)
    const first = saga.steps[0]
    write(this.db, (tx) => {
      if (first?.kind === 'record' && !saga.options.neverGivesUp) first.undo?.(tx, { ...this.ctx(job), error })
      this.ended(tx, job, { state: 'failed', errorCode: error.code, errorMessage: error.message })
    })
    this.lanes.unlock(job.holds, job.id)
    this.failpoint(`${job.kind}:ended`)
  }

  /** The job has failed for everybody who asks. It keeps its lock, so that nothing is done to what is half undone. */
  private endWithUndoLeft(job: Job, saga: Saga, nodeId: string, error: Failure | undefined) {
    this.say(job.id, 'error', 'Failed. The node is away: what is left to undo there is undone when it is back.')
    const ctx = { ...this.ctx(job), error }
    write(this.db, (tx) => {
      for (const step of saga.steps.toReversed()) {
        if (step.kind !== 'record' || !step.undoAtOnce) continue
        const noted = this.notes.of(job.id)[step.name]
        if (!noted || noted.state === 'undone') continue
        step.undo?.(tx, ctx)
        this.notes.note(tx, job.id, step.name, 'undone', noted.output)
      }
      this.ended(tx, job, { state: 'failed', undoNodeId: nodeId })
    })
    this.failpoint(`${job.kind}:undo left`)
    if (error?.code !== 'cancelled')
      this.tell('error', 'a job failed', { ...ofJob(job), code: error?.code, reason: error?.message })
  }

  private async finishUndo(going: Going, saga: Saga, error: Failure | undefined) {
    const { job } = going
    const waitsFor = await this.backward(going, saga, error)
    if (waitsFor) {
      if (waitsFor !== job.undoNodeId) this.notes.set(job.id, { undoNodeId: waitsFor })
      return
    }
    this.say(job.id, 'info', 'What was left to undo on the node is undone.')
    write(this.db, (tx) => {
      this.log.flushInto(tx)
      tx.update(jobs).set({ undoNodeId: null, tries: 0 }).where(eq(jobs.id, job.id)).run()
    })
    this.lanes.unlock(job.holds, job.id)
    this.failpoint(`${job.kind}:undo finished`)
  }

  private progressOf(tx: Tx, parentId: string) {
    const { open, all } = this.statements.childCount.get(parentId)!
    const parent = this.statements.job.get({ id: parentId })
    if (!parent?.stepN || !all) return
    const progress = Math.round(((parent.stepN - open / all) / parent.stepOf) * 100)
    if (progress > parent.progress && progress < 100)
      tx.update(jobs).set({ progress }).where(eq(jobs.id, parentId)).run()
  }

  private errorFrom(cause: unknown, job: Job, step: Step): Failure {
    if (cause instanceof CommandFailed) return { code: cause.failure, message: cause.message }
    if (cause instanceof ExternalFailed || cause instanceof ApiError)
      return { code: cause.code, message: cause.message }
    this.tell('error', 'a step of a job broke', { ...ofJob(job), step: step.name, error: cause })
    return {
      code: 'internal_error',
      message: `Something broke in Berth itself at "${step.words}". The journal has the cause, under ${job.id}.`,
    }
  }

  private mustGoOn() {
    if (this.stopping) throw new Stopped()
  }
  private mustNotStop(going: Going) {
    if (going.stop) throw new StopAsked()
  }
  private say(jobId: string, level: 'info' | 'warning' | 'error', text: string) {
    this.log.add(jobId, { at: this.clock(), level, text })
  }
  private get statements() {
    return this.notes.statements
  }
  private ctx(job: Job): Ctx<any, any> {
    const out = Object.fromEntries(
      Object.entries(this.notes.of(job.id))
        .filter(([, s]) => s.output !== null)
        .map(([name, s]) => [name, s.output]),
    )
    return {
      jobId: job.id,
      input: job.input,
      out,
      now: this.clock(),
      log: (text, level = 'info') => this.say(job.id, level, text),
      error: undefined,
    }
  }
}

type At = { stepN: number; stepName: string; progress: number }

const isInterruption = (cause: unknown) =>
  cause instanceof InjectedCrash || cause instanceof Stopped || cause instanceof Parked

const cancelled = ({ cancelReason }: Job): Failure => ({
  code: 'cancelled',
  message: `It was cancelled before its end${cancelReason ? `: ${cancelReason}` : ''}.`,
})
const unreachable = (): Failure => ({
  code: 'node_unreachable',
  message:
    `The node has not been connected for ${AWAY_MS / minute} minutes. ` +
    'What is on it keeps running; try again when it is back.',
})
const removed = () => new CommandFailed('node_removed', 'The node was removed from Berth.')

/**
 * Ends the key of a command that is tried again: the node answers a key it has ended from its journal, also with its
 * failure.
 */
const again = (job: Job, tries: number) => (job.tries + tries > 1 ? `/${job.tries + tries}` : '')

/** The ids in a line of the journal: it is found by any of them. */
const ofJob = ({ id, kind, subjectId, nodeId }: Job) => ({ jobId: id, kind, subjectId, nodeId })
