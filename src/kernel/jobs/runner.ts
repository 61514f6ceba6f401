// Carries jobs forward, back, and on after a crash.
//
// What matters is in the tables; memory holds only which jobs are going right now. A record step commits in one transaction
// with the note that it is done. A command step is noted as started before it is sent, so that after a crash it is sent again
// under the same key, and so that its undo runs even when its answer never came. When a step fails, every step that was started
// is undone backwards; the job is not "failed" until that is done. An undo that fails is tried again with growing pauses.
import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm'
import type { NodeCommand } from '../../../agent/protocol/wire.ts'
import { type Actor, startedBy } from '../api/actor.ts'
import { ApiError } from '../api/errors.ts'
import { type Clock, minute, second } from '../db/clock.ts'
import { newId } from '../db/ids.ts'
import { afterWrite, type Db, isUniqueViolation, type Tx, write } from '../db/open.ts'
import { inserting } from '../db/rows.ts'
import { JobLog } from './log.ts'
import type { Ctx, Saga, Step } from './saga.ts'
import { type Job, jobLog, jobSteps, jobs } from './tables.ts'

/** The newest 1000 jobs are kept. */
export const JOBS_KEPT = 1000
/** Long work at once on one node: more would only fight for its disk. */
export const AT_ONCE_PER_NODE = 4
/** So few jobs do not wait for each other to write together. */
const FEW = 8
/** Jobs that concern no node. */
const AT_ONCE_WITHOUT_NODE = 16

export type Nodes = {
  /** Resolves with the command's output. `waits` is how long a node may be away before this rejects with `node_unreachable`. */
  send(key: string, nodeCommand: NodeCommand, waits: 'as long as usual' | 'for ever'): Promise<unknown>
}
/** What the journal learns beside a job's own log: who looks there at three in the morning has no panel open. */
export type Tell = (level: 'warning' | 'error', message: string, about: Readonly<Record<string, unknown>>) => void
/** Moments at which tests cut the power. */
export type Failpoints = (moment: string) => void

/** The failure of a command, with the code that the node or the hub gave it. */
export class CommandFailed extends Error {
  constructor(
    readonly failure: string,
    message: string,
  ) {
    super(message)
  }
}

/** What a job works on. `type` is a word of the feature that starts it; the kernel knows no types. */
export type Subject = { type: string; id: string }

export type NewJob = {
  by: Actor
  title: string
  /** The lock it takes until it has ended, such as the id of what it changes. */
  holds?: string
  nodeId?: string | null
  subject?: Subject
  now: number
}

const insertJob = inserting(jobs)

/** In the caller's transaction: the change and its job are written together or not at all. Throws `server_busy`. */
export function startJob<I>(
  tx: Tx,
  saga: Saga<I, any>,
  input: I,
  { by, title, holds, nodeId, subject, now }: NewJob,
): string {
  const id = newId('job')
  const who = startedBy(by)
  try {
    insertJob(tx, {
      id,
      kind: saga.kind,
      title,
      input,
      state: 'queued',
      lane: saga.options.lane ?? 'interactive',
      holds: holds ?? null,
      nodeId: nodeId ?? null,
      subjectType: subject?.type ?? null,
      subjectId: subject?.id ?? null,
      startedByType: who.type,
      startedById: who.id,
      startedByName: who.name,
      createdAt: now,
      progress: 0,
      stepN: 0,
      stepOf: saga.steps.length,
      tries: 0,
    })
  } catch (error) {
    if (isUniqueViolation(error))
      throw new ApiError(
        'server_busy',
        'Another job is working on this server. Wait until it has ended; its log is on the server page.',
      )
    throw error
  }
  return id
}

const prepareStatements = (db: Db) => ({
  // By rowid, not by id: ids sort by a clock, and clocks are set back. The index has those that wait alone, and them by rowid: asked
  // after every commit, neither the thousands that have ended nor those that it knows already are walked through.
  queuedSince: db.$client.prepare<{ rowid: number; id: string; nodeId: string | null }, [number]>(
    "SELECT rowid, id, node_id AS nodeId FROM jobs INDEXED BY jobs_queued WHERE state = 'queued' AND rowid > ? ORDER BY rowid",
  ),
  job: db
    .select()
    .from(jobs)
    .where(eq(jobs.id, sql.placeholder('id')))
    .prepare(),
  steps: db
    .select()
    .from(jobSteps)
    .where(eq(jobSteps.jobId, sql.placeholder('jobId')))
    .prepare(),
  note: db.$client.prepare(
    'INSERT INTO job_steps (job_id, name, state, output) VALUES (?, ?, ?, ?) ON CONFLICT (job_id, name) DO UPDATE SET state = excluded.state, output = excluded.output',
  ),
  at: db.$client.prepare('UPDATE jobs SET step_n = ?, step_name = ?, progress = ? WHERE id = ?'),
  begun: db.$client.prepare("UPDATE jobs SET state = 'running', started_at = ? WHERE id = ?"),
  old: db
    .select({ id: jobs.id })
    .from(jobs)
    .where(inArray(jobs.state, ['succeeded', 'failed']))
    .orderBy(desc(jobs.id))
    .limit(100)
    .offset(JOBS_KEPT)
    .prepare(),
})
const open = ['queued', 'running', 'undoing'] as const

export class Runner {
  readonly log: JobLog
  private going = new Map<string, Promise<void>>()
  /** Ids of queued jobs by node, and how many jobs of each node are going. Memory only: the tables say the same. */
  private queues = new Map<string, string[]>()
  private load = new Map<string, number>()
  private lastQueued = 0
  private statements: ReturnType<typeof prepareStatements>
  private sagas: ReadonlyMap<string, Saga>
  private stopping = false
  private notes: ((tx: Tx) => void)[] = []
  private turn: Promise<void> | undefined
  private wake = new Set<() => void>()

  constructor(
    private db: Db,
    sagas: readonly Saga[],
    private nodes: Nodes,
    private clock: Clock,
    private failpoints: Failpoints = () => {},
    /** How long until something that failed is tried again, for the nth time. */
    private pauseMs = (tries: number) => Math.min(5 * second * 2 ** Math.min(tries - 1, 10), 10 * minute),
    private tell: Tell = () => {},
  ) {
    this.log = new JobLog(db)
    this.sagas = new Map(sagas.map((s) => [s.kind, s]))
    this.statements = prepareStatements(db)
    afterWrite(db, () => this.kick())
  }

  /** At start: everything unfinished goes on, then what is queued begins. */
  start() {
    for (const job of this.db
      .select()
      .from(jobs)
      .where(inArray(jobs.state, ['running', 'undoing']))
      .orderBy(asc(jobs.id))
      .all())
      this.begin(job)
    this.kick()
  }

  /**
   * Begins queued jobs as far as their nodes have room. Called after every commit: it asks only for what was queued since it last
   * asked, and keeps the ids in a queue per node, so that a hundred jobs for a node that is away delay nobody else's.
   */
  kick() {
    if (this.stopping) return
    for (const { rowid, id, nodeId } of this.statements.queuedSince.all(this.lastQueued)) {
      this.lastQueued = rowid
      const queue = this.queues.get(nodeId ?? '')
      if (queue) queue.push(id)
      else this.queues.set(nodeId ?? '', [id])
    }
    for (const [node, queue] of this.queues) {
      while (queue.length && (this.load.get(node) ?? 0) < (node ? AT_ONCE_PER_NODE : AT_ONCE_WITHOUT_NODE))
        this.begin(this.statements.job.get({ id: queue.shift()! })!)
      if (!queue.length) this.queues.delete(node)
    }
  }

  /** Resolves when nothing is going; for tests and for an orderly stop. */
  async idle() {
    while (this.going.size) await Promise.allSettled([...this.going.values()])
  }

  /** No new step begins. What is under way on nodes goes on there and is asked for again at the next start. */
  stop() {
    this.stopping = true
    for (const wake of this.wake) wake()
    this.log.flush()
  }

  private begin(job: Job) {
    const node = job.nodeId ?? ''
    this.load.set(node, (this.load.get(node) ?? 0) + 1)
    // Asynchronous from its first line on, so that nothing runs inside the write that kicked.
    const promise = Promise.resolve()
      .then(() => this.run(job))
      .catch((error) => {
        if (!(error instanceof Stopped) && !(error instanceof InjectedCrash))
          this.tell('error', 'a job stopped by an error in Berth itself', { ...ofJob(job), error })
        if (error instanceof InjectedCrash) throw error
      })
      .finally(() => {
        this.going.delete(job.id)
        this.load.set(node, this.load.get(node)! - 1)
        if (!this.stopping) this.kick()
      })
    promise.catch(() => {})
    this.going.set(job.id, promise)
  }

  private async run(job: Job) {
    const saga = this.sagas.get(job.kind)
    if (!saga) throw new Error(`no saga of kind ${job.kind}`)
    let error = job.errorCode ? { code: job.errorCode, message: job.errorMessage ?? '' } : undefined
    if (job.state !== 'undoing') {
      if (job.state === 'queued') await this.together(() => this.statements.begun.run(this.clock(), job.id))
      const stopped = await this.forward(job, saga)
      if (!stopped) return await this.end(job, 'succeeded')
      error = stopped.error
      this.turnBack(job, stopped.at, error)
      this.failpoint(`${job.kind}:failing`)
    }
    await this.backward(job, saga, error)
    await this.end(job, 'failed')
    this.tell('error', 'a job failed', { ...ofJob(job), code: error?.code, reason: error?.message })
  }

  /** The step that failed is undone like the others, also when it is a record step and nothing of it was kept: its undo may say that the whole has failed. */
  private turnBack(job: Job, failed: Step, error: { code: string; message: string }) {
    this.say(job.id, 'error', error.message)
    write(this.db, (tx) => {
      if (!this.noted(job.id)[failed.name]) this.note(tx, job.id, failed.name, 'started', null)
      tx.update(jobs)
        .set({ state: 'undoing', errorCode: error.code, errorMessage: error.message, tries: 0 })
        .where(eq(jobs.id, job.id))
        .run()
    })
    job.tries = 0
  }

  /** Undefined when every step is done; else where it stopped and why. */
  private async forward(
    job: Job,
    saga: Saga,
  ): Promise<{ at: Step; error: { code: string; message: string } } | undefined> {
    const noted = this.noted(job.id)
    for (const [i, step] of saga.steps.entries()) {
      if (noted[step.name]?.state === 'done') continue
      for (let tries = 1; ; tries++) {
        this.mustGoOn()
        try {
          await this.take(job, saga, step, i, tries)
          this.forgetTries(job, tries)
          break
        } catch (cause) {
          if (cause instanceof InjectedCrash || cause instanceof Stopped) throw cause
          // What fails because we stop has not failed: the next start asks its node again.
          this.mustGoOn()
          const error = this.errorFrom(cause, job, step)
          if (!saga.options.neverGivesUp) return { at: step, error }
          await this.tryLater(job, step, error, tries, 'forward')
        }
      }
    }
    return undefined
  }

  private async take(job: Job, saga: Saga, step: Step, i: number, tries: number) {
    const at = { stepN: i + 1, stepName: step.words, progress: Math.round((i / saga.steps.length) * 100) }
    this.failpoint(`${job.kind}/${step.name}:before`)
    if (step.kind === 'record') {
      if (tries === 1) this.say(job.id, 'info', step.words)
      write(this.db, (tx) => {
        const output = step.do(tx, this.ctx(job)) ?? null
        this.note(tx, job.id, step.name, 'done', output)
        tx.update(jobs)
          .set({ ...at, errorCode: null, errorMessage: null })
          .where(eq(jobs.id, job.id))
          .run()
      })
    } else {
      const nodeCommand = step.do(this.ctx(job))
      if (!nodeCommand) {
        await this.together((tx) => this.note(tx, job.id, step.name, 'done', null))
        return this.failpoint(`${job.kind}/${step.name}:noted`)
      }
      if (tries === 1) this.say(job.id, 'info', step.words)
      await this.together((tx) => {
        this.note(tx, job.id, step.name, 'started', null)
        this.statements.at.run(at.stepN, at.stepName, at.progress, job.id)
      })
      // A key is answered once: trying again after a failure is a new command.
      const key = `${job.id}/${step.name}${again(job, tries)}`
      const output = await this.sendOrGone(job, key, nodeCommand, !!saga.options.neverGivesUp)
      this.failpoint(`${job.kind}/${step.name}:answered`)
      this.mustGoOn()
      await this.together((tx) => {
        this.note(tx, job.id, step.name, 'done', output)
        if (saga.options.neverGivesUp)
          tx.update(jobs).set({ errorCode: null, errorMessage: null }).where(eq(jobs.id, job.id)).run()
      })
    }
    this.failpoint(`${job.kind}/${step.name}:noted`)
  }

  private async backward(job: Job, saga: Saga, error: { code: string; message: string } | undefined) {
    for (const step of saga.steps.toReversed()) {
      const at = this.noted(job.id)[step.name]
      if (!at || at.state === 'undone') continue
      for (let tries = 1; ; tries++) {
        this.mustGoOn()
        try {
          await this.takeBack(job, step, at.output, tries, error)
          this.forgetTries(job, tries)
          break
        } catch (cause) {
          if (cause instanceof InjectedCrash || cause instanceof Stopped) throw cause
          // What fails because we stop has not failed: the next start asks its node again.
          this.mustGoOn()
          await this.tryLater(job, step, this.errorFrom(cause, job, step), tries, 'back')
        }
      }
      this.failpoint(`${job.kind}/${step.name}:undone`)
    }
  }

  private async takeBack(
    job: Job,
    step: Step,
    output: unknown,
    tries: number,
    error: { code: string; message: string } | undefined,
  ) {
    const ctx = { ...this.ctx(job), error }
    if (step.kind === 'record') {
      write(this.db, (tx) => {
        step.undo?.(tx, ctx)
        this.note(tx, job.id, step.name, 'undone', output)
      })
      return
    }
    const nodeCommand = step.undo?.(ctx)
    if (nodeCommand) {
      if (tries === 1) this.say(job.id, 'info', `Taking back: ${step.words}`)
      await this.sendOrGone(job, `${job.id}/${step.name}/undo${again(job, tries)}`, nodeCommand, true)
      this.failpoint(`${job.kind}/${step.name}:undo answered`)
      this.mustGoOn()
    }
    write(this.db, (tx) => this.note(tx, job.id, step.name, 'undone', output))
  }

  /** What must come to its end finds its end when the node is gone for good: nothing is left there to clean up. */
  private async sendOrGone(job: Job, key: string, nodeCommand: NodeCommand, mustEnd: boolean): Promise<unknown> {
    try {
      return await this.nodes.send(key, nodeCommand, mustEnd ? 'for ever' : 'as long as usual')
    } catch (error) {
      if (!mustEnd || !(error instanceof CommandFailed) || error.failure !== 'node_removed') throw error
      this.say(job.id, 'warning', 'The node was removed from Berth, so nothing is done there.')
      return null
    }
  }

  /** The next step starts counting anew; kept in step with the row, so that keys stay the same after a crash. */
  private forgetTries(job: Job, tries: number) {
    if (tries === 1 && job.tries === 0) return
    job.tries = 0
    this.set(job.id, { tries: 0 })
  }

  /** Says what is wrong where people look for it, and waits. */
  private async tryLater(
    job: Job,
    step: Step,
    error: { code: string; message: string },
    tries: number,
    taking: 'forward' | 'back',
  ) {
    const pause = this.pauseMs(job.tries + tries)
    const seconds = Math.ceil(pause / 1000)
    this.say(job.id, 'error', `${error.message} (trying again in ${seconds} s)`)
    const what =
      taking === 'back'
        ? 'a step of a job could not be taken back and is tried again'
        : 'a step of a job failed and is tried again'
    const about = {
      step: step.name,
      code: error.code,
      reason: error.message,
      tries: job.tries + tries,
      againInSeconds: seconds,
    }
    this.tell('warning', what, { ...ofJob(job), ...about })
    const again = { tries: sql`${jobs.tries} + 1` as unknown as number }
    // What is being taken back has failed for another reason, and that one is kept: it is what people ask for.
    this.set(job.id, taking === 'back' ? again : { errorCode: error.code, errorMessage: error.message, ...again })
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, pause)
      const wake = this.wake
      function done() {
        clearTimeout(timer)
        wake.delete(done)
        resolve()
      }
      wake.add(done)
    })
    this.mustGoOn()
  }

  private async end(job: Job, state: 'succeeded' | 'failed') {
    this.say(
      job.id,
      state === 'succeeded' ? 'info' : 'error',
      state === 'succeeded' ? 'Done.' : 'Failed; everything that was begun has been undone.',
    )
    await this.together((tx) => {
      this.log.flushInto(tx)
      tx.update(jobs)
        .set({
          state,
          finishedAt: this.clock(),
          ...(state === 'succeeded' ? { progress: 100, errorCode: null, errorMessage: null } : {}),
        })
        .where(eq(jobs.id, job.id))
        .run()
      this.forgetOld(tx)
    })
    this.failpoint(`${job.kind}:ended`)
  }

  /** Only ended jobs are forgotten, however many wait. */
  private forgetOld(tx: Tx) {
    const old = this.statements.old.all()
    if (!old.length) return
    const ids = old.map((j) => j.id)
    for (const table of [jobLog, jobSteps]) tx.delete(table).where(inArray(table.jobId, ids)).run()
    tx.delete(jobs).where(inArray(jobs.id, ids)).run()
  }

  private errorFrom(cause: unknown, job: Job, step: Step): { code: string; message: string } {
    if (cause instanceof CommandFailed) return { code: cause.failure, message: cause.message }
    if (cause instanceof ApiError) return { code: cause.code, message: cause.message }
    this.tell('error', 'a step of a job broke', { ...ofJob(job), step: step.name, error: cause })
    return {
      code: 'internal_error',
      message: `Something broke in Berth itself at "${step.words}". The journal has the cause, under ${job.id}.`,
    }
  }

  /**
   * What many jobs note about commands in one turn of the loop goes to disk together, so that eighty jobs cost one flush and not
   * eighty. Resolves when it is there. Only for notes, which do not fail: a record step has a transaction of its own.
   */
  private async together(note: (tx: Tx) => void): Promise<void> {
    if (this.going.size <= FEW) return write(this.db, note)
    this.turn ??= new Promise((resolve, reject) =>
      setImmediate(() => {
        this.turn = undefined
        const notes = this.notes.splice(0)
        try {
          write(this.db, (tx) => {
            for (const note of notes) note(tx)
          })
          resolve()
        } catch (error) {
          reject(error)
        }
      }),
    )
    this.notes.push(note)
    return this.turn
  }

  private mustGoOn() {
    if (this.stopping) throw new Stopped()
  }
  private failpoint(moment: string) {
    this.failpoints(moment)
  }
  private say(jobId: string, level: 'info' | 'warning' | 'error', text: string) {
    this.log.add(jobId, { at: this.clock(), level, text })
  }
  private set(jobId: string, values: Partial<typeof jobs.$inferInsert>) {
    write(this.db, (tx) => void tx.update(jobs).set(values).where(eq(jobs.id, jobId)).run())
  }
  private ctx(job: Job): Ctx<any, any> {
    const out = Object.fromEntries(
      Object.entries(this.noted(job.id))
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
  private noted(jobId: string) {
    return Object.fromEntries(this.statements.steps.all({ jobId }).map((s) => [s.name, s]))
  }
  private note(_: Tx, jobId: string, name: string, state: 'started' | 'done' | 'undone', output: unknown) {
    this.statements.note.run(jobId, name, state, output === null ? null : JSON.stringify(output))
  }
}

/** Progress within a step, as the node reports it: the job's bar moves on between two steps. */
export function stepProgress(db: Db, jobId: string, percent: number) {
  write(db, (tx) => {
    const job = tx
      .select()
      .from(jobs)
      .where(and(eq(jobs.id, jobId), inArray(jobs.state, [...open])))
      .get()
    if (!job?.stepN) return
    const progress = Math.min(99, Math.round(((job.stepN - 1 + percent / 100) / job.stepOf) * 100))
    if (progress > job.progress) tx.update(jobs).set({ progress }).where(eq(jobs.id, jobId)).run()
  })
}

/** Ends the key of a command that is tried again: the node answers a key it has ended from its journal, also with its failure. */
const again = (job: Job, tries: number) => (job.tries + tries > 1 ? `/${job.tries + tries}` : '')

/** What a line in the journal says about it, so that it is found by whichever id somebody has. */
const ofJob = ({ id, kind, subjectId, nodeId }: Job) => ({ jobId: id, kind, subjectId, nodeId })

class Stopped extends Error {}
/** Only tests throw it: stands for the power going out. */
export class InjectedCrash extends Error {}
