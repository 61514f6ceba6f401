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
//
// An error of the database, or of Berth itself outside the steps, interrupts a job where it stands: the tables still
// say how far it is. It is begun again with growing pauses, and at once when the database can be written again.
import { asc, eq, inArray } from 'drizzle-orm'
import { minute } from '../db/clock.ts'
import { isDatabaseError } from '../db/health.ts'
import { troubleOf, whenHealed, write } from '../db/open.ts'
import { Backward } from './backward.ts'
import { Ending } from './ending.ts'
import { Execution, type Going, type Options, ofJob } from './execution.ts'
import {
  CommandFailed,
  type Failure,
  InjectedCrash,
  type Interrupted,
  Interruptions,
  Parked,
  Stopped,
} from './failures.ts'
import { Forward } from './forward.ts'
import type { JobLog } from './log.ts'
import type { Saga, Step } from './saga.ts'
import { type Job, jobs } from './tables.ts'

/** A job whose node is away waits this long, then fails with `node_unreachable`. */
export const AWAY_MS = 15 * minute
/** Nodes get this long to connect again after a start, before a wait that began earlier may end. */
export const RECONNECT_MS = 2 * minute

export class Runner {
  private execution: Execution
  private forward: Forward
  private backward: Backward
  private ending: Ending
  private lastQueued = 0
  private sagas: ReadonlyMap<string, Saga>
  /** Jobs that a test stopped with a crash: only the next start goes on with them. */
  private crashed = new Set<string>()
  private interruptions = new Interruptions()
  private startedAt: number
  private sweeping: Timer | undefined
  private recovering: Timer | undefined

  constructor(options: Options) {
    this.execution = new Execution(options, () => this.nodeChanged())
    this.forward = new Forward(this.execution)
    this.backward = new Backward(this.execution)
    this.ending = new Ending(this.execution, this.backward)
    this.startedAt = options.clock()
    this.sagas = new Map(options.sagas.map((s) => [s.kind, s]))
    this.execution.notes.afterEachWrite(() => this.kick())
    whenHealed(options.db, () => this.recover('at once'))
  }

  /** Jobs that an error outside their steps has stopped, until they go on. */
  interrupted = (): readonly Interrupted[] => this.interruptions.all()

  get log(): JobLog {
    return this.execution.log
  }
  /** How long until something that failed is tried again, in ms, for the nth time. */
  get pauseMs(): (tries: number) => number {
    return this.execution.pauseMs
  }

  /** At start: everything unfinished goes on, then what is queued begins. */
  start() {
    for (const { id, holds } of this.execution.statements.pendingUndos.all()) this.execution.lanes.lock(holds, id)
    for (const job of this.execution.db
      .select()
      .from(jobs)
      .where(inArray(jobs.state, ['running', 'undoing']))
      .orderBy(asc(jobs.id))
      .all()) {
      this.execution.lanes.lock(job.holds, job.id)
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
    if (this.execution.stopping) return
    for (const { rowid, ...job } of this.execution.statements.queuedSince.all(this.lastQueued)) {
      this.lastQueued = rowid
      this.execution.lanes.add(job)
    }
    for (const { id } of this.execution.statements.cancelled.all()) this.cancel(id)
    for (const id of this.execution.lanes.next((nodeId) => this.execution.nodes.state(nodeId) !== 'away'))
      this.beginById(id, true)
  }

  private beginById(id: string, place: boolean) {
    try {
      this.begin(this.execution.statements.job.get({ id })!, place)
    } catch (error) {
      // It has its lock and its place, and keeps both until it is begun.
      this.interrupt(id, error, { jobId: id }, place)
    }
  }

  /** Nothing begins it but `recover` or the next start. */
  private isInterrupted = (id: string) => this.crashed.has(id) || this.interruptions.has(id)

  private cancel(id: string) {
    if (!this.execution.going.has(id) && this.isInterrupted(id)) return
    const going = this.execution.going.get(id)
    if (!going) {
      const job = this.execution.statements.job.get({ id })!
      if (job.state === 'queued') this.execution.lanes.drop(id)
      this.begin(job)
    } else if (!going.stop) this.stopBecause(going, cancelled(this.execution.statements.job.get({ id })!))
  }

  /** A command at work on a node that is there is awaited, unless nothing depends on its end. */
  private stopBecause(going: Going, error: Failure) {
    going.stop = error
    going.wake?.()
    going.abort?.abort()
    const { inFlight } = going
    if (inFlight && (inFlight.abandonable || this.execution.nodes.state(inFlight.nodeId) === 'away'))
      this.execution.nodes.drop(inFlight.key, new CommandFailed(error.code, error.message))
  }

  /** Called when a node came, went or was removed: jobs that wait for it go on soon. */
  nodeChanged() {
    if (this.execution.stopping) return
    this.sweeping ??= setTimeout(() => {
      this.sweeping = undefined
      this.quietly('looking after jobs whose node is away', () => this.sweep())
    })
  }

  /** For work that is repeated soon: an error of the database is in the journal already. */
  private quietly(words: string, work: () => void) {
    try {
      work()
    } catch (error) {
      if (!isDatabaseError(error)) this.execution.tell('error', `${words} failed`, { error })
    }
  }

  /**
   * Begins interrupted jobs again whose pause is over, or all `at once`. Nothing begins while the database cannot be
   * written.
   */
  recover(when?: 'at once') {
    clearTimeout(this.recovering)
    this.recovering = undefined
    const { stopping, db, going, lanes } = this.execution
    if (stopping || troubleOf(db)) return
    const now = performance.now()
    for (const { jobId, againAt, place } of this.interruptions.all()) {
      if (going.has(jobId) || (againAt > now && when !== 'at once')) continue
      this.quietly('beginning an interrupted job again', () => {
        const job = this.execution.statements.job.get({ id: jobId })
        if (job && isUnfinished(job)) return this.begin(job, place)
        this.interruptions.delete(jobId)
        if (job) lanes.unlock(job.holds, jobId)
      })
    }
    this.quietly('beginning queued jobs', () => this.kick())
    this.recoverLater()
  }

  private recoverLater() {
    const times = this.interruptions
      .all()
      .filter(({ jobId }) => !this.execution.going.has(jobId))
      .map(({ againAt }) => againAt)
    if (!times.length || this.execution.stopping || this.recovering) return
    this.recovering = setTimeout(() => this.recover(), Math.max(1, Math.min(...times) - performance.now()))
  }

  /**
   * Begins unfinished jobs that nothing in memory looks after, whatever led to it. Called every minute. Answers how
   * many.
   */
  pickUpOrphans(): number {
    const { stopping, db, going, lanes, parked } = this.execution
    if (stopping || troubleOf(db)) return 0
    let found = 0
    for (const { rowid, state, ...job } of this.execution.statements.unfinished.all()) {
      const { id } = job
      if (going.has(id) || lanes.has(id) || this.isInterrupted(id) || rowid > this.lastQueued) continue
      if (parked.has(id) && this.execution.hasOpenChildren(id)) continue
      found++
      this.execution.tell('warning', 'a job that nothing looked after is begun again', { jobId: id, state })
      parked.delete(id)
      if (state === 'queued') lanes.add(job)
      else {
        lanes.lock(job.holds, id)
        this.beginById(id, false)
      }
    }
    this.recover()
    return found
  }

  private interrupt(jobId: string, error: unknown, about: object, place = false) {
    const byDatabase = isDatabaseError(error)
    const reason = error instanceof Error ? error.message : String(error)
    this.interruptions.add(jobId, { reason, byDatabase, place }, this.execution.clock(), this.pauseMs)
    // An error of the database is in the journal once, not once for each job.
    if (!byDatabase) this.execution.tell('error', 'a job stopped by an error in Berth itself', { ...about, error })
    clearTimeout(this.recovering)
    this.recovering = undefined
    this.recoverLater()
  }

  /**
   * Ends what waited too long for a node that is away, frees its place for others meanwhile, and carries on what waited
   * for a node that is back or gone. Called every few seconds. A wait stands in the table, so that a restart does not
   * begin it anew.
   */
  sweep() {
    if (this.execution.stopping) return
    const now = this.execution.clock()
    const waits: [since: number | null, id: string][] = []
    for (const job of this.execution.statements.open.all()) {
      const going = this.execution.going.get(job.id)
      const nodeId = going ? going.inFlight?.nodeId : job.state === 'queued' ? job.nodeId : undefined
      const state = nodeId ? this.execution.nodes.state(nodeId) : 'connected'
      if (going) this.execution.place(going, state !== 'away')
      if (state !== 'away') {
        // A job between two commands may still be about to send to the same node: its answer ends the wait.
        if (job.waitingSince !== null && nodeId) waits.push([null, job.id])
        continue
      }
      const since = job.waitingSince ?? Math.max(this.execution.nodes.awaySince(nodeId!) ?? now, job.createdAt)
      if (job.waitingSince === null) waits.push([since, job.id])
      if (going) going.waited = true
      if (now >= Math.max(since + AWAY_MS, this.startedAt + RECONNECT_MS)) this.giveUpOn(job.id, going)
    }
    if (waits.length)
      write(this.execution.db, () => {
        for (const [since, id] of waits) this.execution.statements.waits.run(since, id)
      })
    for (const { inFlight } of this.execution.going.values())
      if (inFlight && this.execution.nodes.state(inFlight.nodeId) === 'gone')
        this.execution.nodes.drop(inFlight.key, removed())
    for (const { id, undoNodeId } of this.execution.statements.pendingUndos.all())
      if (!this.execution.going.has(id) && !this.isInterrupted(id) && this.execution.nodes.state(undoNodeId) !== 'away')
        this.begin(this.execution.statements.job.get({ id })!)
    this.kick()
  }

  /** A job that is being undone, or goes on for ever, keeps its error; only the one that may fail fails of this. */
  private giveUpOn(id: string, going: Going | undefined) {
    const job = going?.job ?? this.execution.statements.job.get({ id })!
    const error = unreachable()
    if (!going) {
      if (this.sagas.get(job.kind)?.options.neverGivesUp) return
      this.execution.lanes.drop(id)
      this.begin(job, false, error)
    } else if (going.inFlight) {
      if (going.job.state !== 'undoing' && this.sagas.get(job.kind)?.options.neverGivesUp) return
      if (going.job.state !== 'undoing') going.stop ??= error
      this.execution.nodes.drop(going.inFlight.key, new CommandFailed(error.code, error.message))
    }
  }

  /** Resolves when nothing is going; for tests and for an orderly stop. */
  async idle() {
    while (this.execution.going.size) await Promise.allSettled([...this.execution.going.values()].map((g) => g.promise))
  }

  /** No new step begins. What is under way on nodes goes on there and is asked for again at the next start. */
  stop() {
    this.execution.stopping = true
    clearTimeout(this.sweeping)
    clearTimeout(this.recovering)
    for (const going of this.execution.going.values()) {
      going.wake?.()
      going.abort?.abort()
    }
    this.execution.log.stop()
  }

  private begin(job: Job, place = false, stop?: Failure) {
    if (this.execution.going.has(job.id)) return
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
      .then(
        () => this.interruptions.delete(job.id),
        (error) => {
          if (error instanceof Stopped) return
          if (error instanceof Parked) return this.interruptions.delete(job.id)
          if (error instanceof InjectedCrash) {
            this.crashed.add(job.id)
            throw error
          }
          this.interrupt(job.id, error, ofJob(job))
        },
      )
      .finally(() => {
        this.execution.going.delete(job.id)
        this.execution.place(going, false)
        if (this.execution.stopping) return
        this.quietly('beginning the next jobs', () => {
          this.resume(job.id)
          if (job.parentId) this.resume(job.parentId)
          this.kick()
        })
        this.recoverLater()
      })
    going.promise.catch(() => {})
    this.execution.going.set(job.id, going)
  }

  /** A job that waited for its children goes on when all have ended. */
  private resume(id: string) {
    if (this.execution.going.has(id) || !this.execution.parked.has(id) || this.execution.hasOpenChildren(id)) return
    this.execution.parked.delete(id)
    this.beginById(id, false)
  }

  private async run(going: Going) {
    const { job } = going
    const saga = this.sagas.get(job.kind)
    if (!saga) throw new Error(`no saga of kind ${job.kind}`)
    let error = job.errorCode ? { code: job.errorCode, message: job.errorMessage ?? '' } : undefined
    if (job.undoNodeId !== null) return await this.ending.finishUndo(going, saga, error)
    if (job.state !== 'undoing') {
      if (job.state === 'queued') {
        if (going.stop) return this.ending.endUnbegun(job, saga, going.stop)
        await this.execution.notes.together(() => this.execution.statements.begun.run(this.execution.clock(), job.id))
        job.state = 'running'
      }
      const stopped = await this.forward.run(going, saga)
      if (!stopped) return await this.ending.end(job, 'succeeded')
      error = stopped.error
      // Nothing of it can be undone; what supersedes it brings the node to where it should be.
      if (saga.options.neverGivesUp) return await this.ending.end(job, 'failed', error)
      this.turnBack(job, stopped.at, error)
      this.execution.failpoint(`${job.kind}:failing`)
    }
    const waitsFor = await this.backward.run(going, saga, error)
    if (waitsFor) return this.ending.endWithUndoLeft(job, saga, waitsFor, error)
    await this.ending.end(job, 'failed')
    if (error?.code !== 'cancelled')
      this.execution.tell('error', 'a job failed', { ...ofJob(job), code: error?.code, reason: error?.message })
  }

  /**
   * The step that failed is undone like the others, also when it is a record step and nothing of it was kept: its undo
   * may say that the whole has failed.
   */
  private turnBack(job: Job, failed: Step | undefined, error: Failure) {
    this.execution.say(job.id, error.code === 'cancelled' ? 'warning' : 'error', error.message)
    write(this.execution.db, (tx) => {
      if (failed && !this.execution.notes.of(job.id)[failed.name])
        this.execution.notes.note(tx, job.id, failed.name, 'started', null)
      tx.update(jobs)
        .set({ state: 'undoing', errorCode: error.code, errorMessage: error.message, tries: 0 })
        .where(eq(jobs.id, job.id))
        .run()
    })
    job.tries = 0
    job.state = 'undoing'
  }
}

/** Also of a job that has failed and whose undo waits for a node. */
const isUnfinished = ({ state, undoNodeId }: Job) =>
  (state !== 'succeeded' && state !== 'failed') || undoNodeId !== null

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
