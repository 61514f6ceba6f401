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
import { minute } from '../db/clock.ts'
import { write } from '../db/open.ts'
import { Backward } from './backward.ts'
import { Ending } from './ending.ts'
import { Execution, type Going, type Options, ofJob } from './execution.ts'
import { CommandFailed, type Failure, InjectedCrash, Parked, Stopped } from './failures.ts'
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
  /** Jobs that stopped by an error of ours: the next start tries them again. */
  private broken = new Set<string>()
  private startedAt: number
  private sweeping: Timer | undefined

  constructor(options: Options) {
    this.execution = new Execution(options, () => this.nodeChanged())
    this.forward = new Forward(this.execution)
    this.backward = new Backward(this.execution)
    this.ending = new Ending(this.execution, this.backward)
    this.startedAt = options.clock()
    this.sagas = new Map(options.sagas.map((s) => [s.kind, s]))
    this.execution.notes.afterEachWrite(() => this.kick())
  }

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
      this.begin(this.execution.statements.job.get({ id })!, true)
  }

  private cancel(id: string) {
    if (this.broken.has(id)) return
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
      this.sweep()
    })
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
      if (!this.execution.going.has(id) && !this.broken.has(id) && this.execution.nodes.state(undoNodeId) !== 'away')
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
    for (const going of this.execution.going.values()) {
      going.wake?.()
      going.abort?.abort()
    }
    this.execution.log.stop()
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
        this.execution.tell('error', 'a job stopped by an error in Berth itself', { ...ofJob(job), error })
      })
      .finally(() => {
        this.execution.going.delete(job.id)
        this.execution.place(going, false)
        if (this.execution.stopping) return
        this.resume(job.id)
        if (job.parentId) this.resume(job.parentId)
        this.kick()
      })
    going.promise.catch(() => {})
    this.execution.going.set(job.id, going)
  }

  /** A job that waited for its children goes on when all have ended. */
  private resume(id: string) {
    if (this.execution.going.has(id) || !this.execution.parked.has(id) || this.execution.hasOpenChildren(id)) return
    this.execution.parked.delete(id)
    this.begin(this.execution.statements.job.get({ id })!)
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
