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
// until the node is back or is gone. The undo on another node of the job does not wait for it, and an undo on another
// node than the job's own is waited for by nobody: the job fails without it, and gives its lock back.
//
// Past its pivot neither undoes a job: it waits for a node that is away however long that takes, and counts a command
// to a node that is gone as done. The pivot is noted only while nobody has asked to cancel the job, in one statement,
// and only while the node is there to which it leads: until then the job waits for it as before any other command.
//
// An error of the database, or of Berth itself outside the steps, interrupts a job where it stands: the tables still
// say how far it is. It is begun again with growing pauses, and at once when the database can be written again.
import { asc, eq, sql } from 'drizzle-orm'
import { whenHealed } from '../../db/open.ts'
import { CommandFailed, type Failure, InjectedCrash, type Interrupted, Parked, Stopped } from '../failures.ts'
import type { JobLog } from '../log.ts'
import { isOpenJob } from '../queries.ts'
import { isInDoubt, isPastPivot, type Saga, type Step } from '../saga.ts'
import { type Job, jobs } from '../tables.ts'
import { forgetUnstored } from '../unstored.ts'
import { AWAY_MS, Away } from './away.ts'
import { Backward } from './backward.ts'
import { Ending } from './ending.ts'
import { Execution, type Going, type Options, ofJob } from './execution.ts'
import { Forward } from './forward.ts'
import { Recovery } from './recovery.ts'

export class Runner {
  private execution: Execution
  private forward: Forward
  private backward: Backward
  private ending: Ending
  private lastQueued = 0
  private sagas: ReadonlyMap<string, Saga>
  private recovery: Recovery
  private away: Away
  private sweeping: Timer | undefined

  constructor(options: Options) {
    this.execution = new Execution(options, () => this.nodeChanged())
    this.forward = new Forward(this.execution)
    this.backward = new Backward(this.execution)
    this.ending = new Ending(this.execution, this.backward)
    this.recovery = new Recovery(this.execution, {
      begin: (job, place) => this.begin(job, place),
      kick: () => this.kick(),
      lastQueued: () => this.lastQueued,
    })
    this.away = new Away(this.execution, {
      begin: (job, place, stop) => this.begin(job, place, stop),
      isInterrupted: this.recovery.isInterrupted,
      mustGoForward: (job, noted) => this.mustGoForward(job, noted),
      awayMs: ({ job, noted }) => this.sagas.get(job.kind)?.options.awayMs?.(this.execution.ctx(job, noted)) ?? AWAY_MS,
    })
    this.sagas = new Map(options.sagas.map((s) => [s.kind, s]))
    this.execution.notes.afterEachWrite(() => this.kick())
    whenHealed(options.db, () => this.recovery.recover('at once'))
  }

  /** Jobs that an error outside their steps has stopped, until they go on. */
  interrupted = (): readonly Interrupted[] => this.recovery.all()

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
      .where(sql.raw(`${isOpenJob('jobs')} AND jobs.state <> 'queued'`))
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
      this.recovery.beginById(id, true)
  }

  private mustGoForward({ kind }: Job, noted: Going['noted']): boolean {
    const saga = this.sagas.get(kind)
    return saga !== undefined && (isPastPivot(saga, noted) || isInDoubt(saga, noted))
  }

  private cancel(id: string) {
    if (!this.execution.going.has(id) && this.recovery.isInterrupted(id)) return
    const going = this.execution.going.get(id)
    if (!going) {
      const job = this.execution.statements.job.get({ id })!
      if (job.state === 'queued') this.execution.lanes.drop(id)
      this.begin(job)
    } else if (!going.stop) this.stopBecause(going, this.execution.cancelled(id))
  }

  /** A command at work on a node that is there is awaited, unless nothing depends on its end. */
  private stopBecause(going: Going, error: Failure) {
    going.stop = error
    going.wake?.()
    going.abort?.abort()
    const { inFlight } = going
    if (inFlight?.unsent) return
    const saga = this.sagas.get(going.job.kind)
    if (saga && (isInDoubt(saga, going.noted) || (saga.options.neverStops && isPastPivot(saga, going.noted)))) return
    if (inFlight && (inFlight.abandonable || this.execution.nodes.state(inFlight.nodeId) === 'away'))
      this.execution.nodes.drop(inFlight.key, new CommandFailed(error.code, error.message))
  }

  /** Called when a node came, went or was removed: jobs that wait for it go on soon. */
  nodeChanged() {
    if (this.execution.stopping) return
    this.sweeping ??= setTimeout(() => {
      this.sweeping = undefined
      this.execution.quietly('looking after jobs whose node is away', () => this.sweep())
    })
  }

  /**
   * Ends what waited too long for a node that is away, frees its place for others meanwhile, and carries on what waited
   * for a node that is back or gone. Called every few seconds.
   */
  sweep() {
    this.away.sweep()
    forgetUnstored(this.execution.db)
    this.kick()
  }

  /** Begins unfinished jobs that nothing in memory looks after. Called every minute. Answers how many. */
  pickUpOrphans = (): number => this.recovery.pickUpOrphans()

  /** Begins interrupted jobs again whose pause is over, or all `at once`. */
  recover(when?: 'at once') {
    this.recovery.recover(when)
  }

  /** Resolves when nothing is going; for tests and for an orderly stop. */
  async idle() {
    while (this.execution.going.size) await Promise.allSettled([...this.execution.going.values()].map((g) => g.promise))
  }

  /** No new step begins. What is under way on nodes goes on there and is asked for again at the next start. */
  stop() {
    this.execution.stopping = true
    clearTimeout(this.sweeping)
    this.recovery.stop()
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
      stop: stop ?? (job.cancelRequestedAt === null ? undefined : this.execution.cancelled(job.id)),
      promise: Promise.resolve(),
      noted: {},
      carried: [],
      inFlight: undefined,
      waited: job.waitingSince !== null,
      wake: undefined,
      abort: undefined,
    }
    // Asynchronous from its first line on, so that nothing runs inside the write that kicked.
    going.promise = Promise.resolve()
      .then(() => this.run(going))
      .then(
        () => this.recovery.delete(job.id),
        (error) => {
          if (error instanceof Stopped) return
          if (error instanceof Parked) return this.recovery.delete(job.id)
          if (error instanceof InjectedCrash) {
            this.recovery.hasCrashed(job.id)
            throw error
          }
          this.recovery.interrupt(job.id, error, ofJob(job))
        },
      )
      .finally(() => {
        this.execution.going.delete(job.id)
        this.execution.place(going, false)
        if (this.execution.stopping) return
        this.execution.quietly('beginning the next jobs', () => {
          forgetUnstored(this.execution.db)
          this.resume(job.id)
          if (job.parentId) this.resume(job.parentId)
          this.kick()
        })
        this.recovery.later()
      })
    going.promise.catch(() => {})
    this.execution.going.set(job.id, going)
  }

  /** A job that waited for its children goes on when all have ended. */
  private resume(id: string) {
    if (this.execution.going.has(id) || !this.execution.parked.has(id) || this.execution.hasOpenChildren(id)) return
    this.execution.parked.delete(id)
    this.recovery.beginById(id, false)
  }

  private async run(going: Going) {
    const { job } = going
    const saga = this.sagas.get(job.kind)
    if (!saga) throw new Error(`no saga of kind ${job.kind}`)
    if (job.state !== 'queued') going.noted = this.execution.notes.of(job.id)
    let error = job.errorCode ? { code: job.errorCode, message: job.errorMessage ?? '' } : undefined
    if (job.undoNodeId !== null) return await this.ending.finishUndo(going, saga, error)
    if (job.state !== 'undoing') {
      if (job.state === 'queued') {
        if (going.stop) return this.ending.endUnbegun(job, saga, going.stop)
        const begunAt = this.execution.clock()
        going.carried.push(() => void this.execution.statements.begun.run(begunAt, job.id))
        job.state = 'running'
      }
      const stopped = await this.forward.run(going, saga)
      if (!stopped) return await this.ending.end(going, saga, 'succeeded')
      error = stopped.error
      // Nothing of it can be undone; what supersedes it brings the node to where it should be.
      if (isPastPivot(saga, going.noted)) return await this.ending.end(going, saga, 'failed', error)
      this.turnBack(going, stopped.at, error)
      this.execution.failpoint(`${job.kind}:failing`)
    }
    const left = await this.backward.run(going, saga, error)
    if (left.size) return this.ending.endWithUndoLeft(going, saga, left, error)
    await this.ending.end(going, saga, 'failed')
    if (error?.code !== 'cancelled')
      this.execution.tell('error', 'a job failed', { ...ofJob(job), code: error?.code, reason: error?.message })
  }

  /**
   * The step that failed is undone like the others, also when it is a record step and nothing of it was kept: its undo
   * may say that the whole has failed.
   */
  private turnBack(going: Going, failed: Step | undefined, error: Failure) {
    const { job } = going
    this.execution.say(job.id, error.code === 'cancelled' ? 'warning' : 'error', error.message)
    const isNew = failed && !going.noted[failed.name]
    this.execution.writeWith(going, (tx) => {
      if (isNew) this.execution.notes.note(tx, job.id, failed.name, 'started', null)
      tx.update(jobs)
        .set({ state: 'undoing', errorCode: error.code, errorMessage: error.message, tries: 0, pivotAt: null })
        .where(eq(jobs.id, job.id))
        .run()
    })
    if (isNew) going.noted[failed.name] = { state: 'started', output: null }
    job.tries = 0
    job.state = 'undoing'
  }
}
