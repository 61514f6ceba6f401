// The end of a job: its row, its lock, the progress of its parent.
import { eq } from 'drizzle-orm'
import { changeMade, type Tx, write } from '../../db/open.ts'
import { type Failure, lastLines } from '../failures.ts'
import type { Saga } from '../saga.ts'
import { type Job, jobs } from '../tables.ts'
import type { Backward } from './backward.ts'
import { causeOf, type Execution, type Going, isElsewhere, ofJob } from './execution.ts'

export class Ending {
  constructor(
    private execution: Execution,
    private backward: Backward,
  ) {}

  async end(going: Going, saga: Saga, state: 'succeeded' | 'failed', error?: Failure) {
    const { job } = going
    if (state === 'succeeded') this.execution.say(job.id, 'info', 'Done.')
    else if (error) this.execution.say(job.id, 'warning', `${error.message} It stopped where it was.`)
    else this.execution.say(job.id, 'error', lastLines.undone)
    await this.execution.together(
      going,
      (tx) => {
        this.ended(tx, job, {
          state,
          ...(error ? { errorCode: error.code, errorMessage: error.message } : {}),
        })
        this.eraseSecrets(job, saga)
        this.execution.notes.hasEnded(tx)
      },
      true,
    )
    this.execution.lanes.unlock(job.holds, job.id)
    this.execution.failpoint(`${job.kind}:ended`)
  }

  /** A job never began: `unbegun`, or its first undo, may say that the whole has failed. */
  endUnbegun(job: Job, saga: Saga, error: Failure) {
    this.execution.say(job.id, 'warning', error.message)
    this.execution.log.flush()
    const first = saga.steps[0]
    write(this.execution.db, (tx) => {
      if (saga.options.unbegun) saga.options.unbegun(tx, job.input)
      else if (first?.kind === 'record') first.undo?.(tx, this.execution.ctx(job, {}, error))
      changeMade(tx, causeOf(job))
      this.ended(tx, job, { state: 'failed', errorCode: error.code, errorMessage: error.message })
      this.eraseSecrets(job, saga)
    })
    this.execution.lanes.unlock(job.holds, job.id)
    this.execution.failpoint(`${job.kind}:ended`)
  }

  /**
   * The job has failed for everybody who asks. It keeps its lock, so that nothing is done to what is half undone; but
   * where all is undone on its own node, it holds nothing: a suspension there does not wait for another node.
   */
  endWithUndoLeft(going: Going, saga: Saga, left: ReadonlySet<string>, error: Failure | undefined) {
    const { job, noted: ofSteps } = going
    this.execution.say(job.id, 'error', lastLines.undoLeft)
    this.execution.log.flush()
    const ctx = this.execution.ctx(job, ofSteps, error)
    write(this.execution.db, (tx) => {
      for (const step of saga.steps.toReversed()) {
        if (step.kind !== 'record' || !step.undoAtOnce) continue
        const noted = ofSteps[step.name]
        if (!noted || noted.state === 'undone') continue
        step.undo?.(tx, ctx)
        changeMade(tx, causeOf(job))
        this.execution.notes.note(tx, job.id, step.name, 'undone', noted.output)
      }
      this.ended(tx, job, { state: 'failed', ...rest(job, left) })
    })
    this.unlockUnless(job, left)
    this.execution.failpoint(`${job.kind}:undo left`)
    if (error?.code !== 'cancelled')
      this.execution.tell('error', 'a job failed', { ...ofJob(job), code: error?.code, reason: error?.message })
  }

  async finishUndo(going: Going, saga: Saga, error: Failure | undefined) {
    const { job } = going
    const left = await this.backward.run(going, saga, error)
    if (left.size) {
      const { undoNodeId, holds } = rest(job, left)
      if (undoNodeId !== job.undoNodeId || holds !== job.holds) this.execution.notes.set(job.id, { undoNodeId, holds })
      return this.unlockUnless(job, left)
    }
    this.execution.say(job.id, 'info', 'What was left is rolled back.')
    this.execution.log.flush()
    write(this.execution.db, (tx) => {
      tx.update(jobs).set({ undoNodeId: null, tries: 0 }).where(eq(jobs.id, job.id)).run()
      this.eraseSecrets(job, saga)
    })
    this.execution.lanes.unlock(job.holds, job.id)
    this.execution.failpoint(`${job.kind}:undo finished`)
  }

  private unlockUnless(job: Job, left: ReadonlySet<string>) {
    if (rest(job, left).holds === null) this.execution.lanes.unlock(job.holds, job.id)
  }

  private ended(tx: Tx, job: Job, values: Partial<typeof jobs.$inferInsert>) {
    if (values.state === 'succeeded') this.execution.statements.succeeded.run(this.execution.clock(), job.id)
    else
      tx.update(jobs)
        .set({ finishedAt: this.execution.clock(), waitingSince: null, ...values })
        .where(eq(jobs.id, job.id))
        .run()
    if (job.parentId) this.progressOf(tx, job.parentId)
  }

  /** Behind the last note of the job: no step and no undo reads them any more. */
  private eraseSecrets({ id, input }: Job, { options }: Saga) {
    const { eraseFromInput, eraseFromOutputs } = this.execution.statements
    for (const secret of options.secrets?.(input) ?? []) {
      if (!secret) continue
      eraseFromInput.run(JSON.stringify(secret), id)
      eraseFromOutputs.run(secret, id)
    }
  }

  private progressOf(tx: Tx, parentId: string) {
    const { open, all } = this.execution.statements.childCount.get(parentId)!
    const parent = this.execution.statements.job.get({ id: parentId })
    if (!parent?.stepN || !all) return
    const progress = Math.round(((parent.stepN - open / all) / parent.stepOf) * 100)
    if (progress > parent.progress && progress < 100)
      tx.update(jobs).set({ progress }).where(eq(jobs.id, parentId)).run()
  }
}

/** The lock of a job while the rest of its undo waits for these nodes, and the first of them: its own one. */
function rest(job: Job, left: ReadonlySet<string>): Pick<Job, 'undoNodeId' | 'holds'> {
  const waitsFor = [...left].find((nodeId) => !isElsewhere(job, nodeId))
  return waitsFor === undefined
    ? { undoNodeId: [...left][0]!, holds: null }
    : { undoNodeId: waitsFor, holds: job.holds }
}
