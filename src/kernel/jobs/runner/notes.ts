// The tables of the runner: prepared once, with the notes of which steps are started, done and undone.
import { eq, inArray, sql } from 'drizzle-orm'
import { isDatabaseError } from '../../db/health.ts'
import { afterWrite, beforeCommit, beforeWrite, type Db, savepoint, type Tx, write } from '../../db/open.ts'
import { jobLog, jobSteps, jobs } from '../tables.ts'
import type { Queued } from './lanes.ts'

/** How many jobs that have ended are kept. */
export const JOBS_KEPT = 1000
/** So few jobs do not wait for each other to write together. */
const FEW = 8
/** While others write, the writes of jobs wait this long for a transaction that takes them along, in ms. */
const JOINING_MS = 5
/** Others write when they wrote within this time, in ms. */
const OTHERS_MS = 20
/** While many jobs are going, the oldest are deleted once per so many that end: the search takes a millisecond. */
const DELETED_AFTER = 50

/** The columns by which the sweep decides about an open job. */
export type OpenJob = {
  id: string
  state: string
  nodeId: string | null
  otherNodeId: string | null
  waitingSince: number | null
  createdAt: number
}

export const prepareStatements = (db: Db) => ({
  // By rowid, not by id: ids sort by a clock, and clocks are set back. The index has only the jobs that wait, so
  // neither the thousands that have ended nor those that are known already are walked through after every commit.
  queuedSince: db.$client.prepare<Queued & { rowid: number }, [number]>(
    `SELECT rowid, id, node_id AS nodeId, other_node_id AS otherNodeId, lane, holds FROM jobs INDEXED BY jobs_queued
     WHERE state = 'queued' AND held_at IS NULL AND rowid > ? ORDER BY rowid`,
  ),
  unfinished: db.$client.prepare<Queued & { rowid: number; state: string }, []>(
    `SELECT rowid, id, node_id AS nodeId, other_node_id AS otherNodeId, lane, holds, state FROM jobs
     WHERE state IN ('queued', 'running', 'undoing') AND held_at IS NULL ORDER BY rowid`,
  ),
  cancelled: db.$client.prepare<{ id: string }, []>(
    `SELECT id FROM jobs INDEXED BY jobs_cancel
     WHERE cancel_requested_at IS NOT NULL AND state IN ('queued', 'running') ORDER BY rowid`,
  ),
  open: db.$client.prepare<OpenJob, []>(
    `SELECT id, state, node_id AS nodeId, other_node_id AS otherNodeId, waiting_since AS waitingSince,
       created_at AS createdAt FROM jobs
     WHERE state IN ('queued', 'running', 'undoing') AND (state <> 'queued' OR node_id IS NOT NULL)
       AND held_at IS NULL`,
  ),
  waits: db.$client.prepare('UPDATE jobs SET waiting_since = ? WHERE id = ?'),
  pendingUndos: db.$client.prepare<{ id: string; undoNodeId: string; holds: string | null }, []>(
    `SELECT id, undo_node_id AS undoNodeId, holds FROM jobs INDEXED BY jobs_undo
     WHERE undo_node_id IS NOT NULL ORDER BY rowid`,
  ),
  openChildren: db.$client.prepare<{ id: string }, [string]>(
    "SELECT id FROM jobs WHERE parent_id = ? AND state IN ('queued', 'running', 'undoing')",
  ),
  /** A child past its point of no return comes to its end, and its parent waits for it. */
  childrenBeforePivot: db.$client.prepare<{ id: string }, [string]>(
    `SELECT id FROM jobs WHERE parent_id = ? AND state IN ('queued', 'running', 'undoing') AND pivot_at IS NULL`,
  ),
  childCount: db.$client.prepare<{ open: number; all: number }, [string]>(
    `SELECT count(*) FILTER (WHERE state IN ('queued', 'running', 'undoing')) AS "open", count(*) AS "all"
     FROM jobs WHERE parent_id = ?`,
  ),
  job: db
    .select()
    .from(jobs)
    .where(eq(jobs.id, sql.placeholder('id')))
    .prepare(),
  steps: db.$client.prepare<{ name: string; state: string; output: string | null }, [string]>(
    'SELECT name, state, output FROM job_steps WHERE job_id = ?',
  ),
  note: db.$client.prepare(
    `INSERT INTO job_steps (job_id, name, state, output) VALUES (?, ?, ?, ?)
     ON CONFLICT (job_id, name) DO UPDATE SET state = excluded.state, output = excluded.output`,
  ),
  at: db.$client.prepare('UPDATE jobs SET step_n = ?, step_name = ?, progress = ? WHERE id = ?'),
  /** Changes nothing when somebody has asked to cancel the job. */
  pivot: db.$client.prepare('UPDATE jobs SET pivot_at = ? WHERE id = ? AND cancel_requested_at IS NULL'),
  /** A text of the input becomes null. */
  eraseFromInput: db.$client.prepare("UPDATE jobs SET input = replace(input, ?, 'null') WHERE id = ?"),
  eraseFromOutputs: db.$client.prepare("UPDATE job_steps SET output = replace(output, ?, '***') WHERE job_id = ?"),
  begun: db.$client.prepare("UPDATE jobs SET state = 'running', started_at = ? WHERE id = ?"),
  // Jobs whose undo is not through, and children whose parent still asks for them, are not old.
  old: db.$client.prepare<{ id: string }, []>(
    `SELECT j.id FROM jobs j WHERE j.state IN ('succeeded', 'failed') AND j.undo_node_id IS NULL
       AND (j.parent_id IS NULL OR NOT EXISTS (
         SELECT 1 FROM jobs p WHERE p.id = j.parent_id AND p.state IN ('queued', 'running', 'undoing')))
     ORDER BY j.id DESC LIMIT 500 OFFSET ${JOBS_KEPT}`,
  ),
  /** A step is behind it, so no error is at hand. */
  clear: db.$client.prepare(
    'UPDATE jobs SET error_code = NULL, error_message = NULL WHERE id = ? AND error_code IS NOT NULL',
  ),
  succeeded: db.$client.prepare(
    `UPDATE jobs SET state = 'succeeded', progress = 100, error_code = NULL, error_message = NULL,
       finished_at = ?, waiting_since = NULL WHERE id = ?`,
  ),
})

type Waiting = {
  work(tx: Tx): unknown
  ends: boolean
  resolve(value: unknown): void
  reject(error: unknown): void
}

export type Noted = { state: string; output: unknown }

export class Notes {
  readonly statements: ReturnType<typeof prepareStatements>
  private waiting: Waiting[] = []
  /** Those that the transaction at hand has taken along, and how each ends when it commits. */
  private taken = new Map<Waiting, () => void>()
  private isWriting = false
  private othersWroteAt = 0
  private ended = 0

  constructor(
    private db: Db,
    /** How many jobs are going. */
    private going: () => number,
    /** Called before the transaction that ends jobs, for what must be on disk by then and must not stop it. */
    private beforeEnds: () => void,
  ) {
    this.statements = prepareStatements(db)
    beforeWrite(db, () => {
      if (this.waiting.some(({ ends }) => ends)) this.beforeEnds()
    })
    beforeCommit(db, (tx) => this.takeAlong(tx))
    afterWrite(db, () => this.settle())
  }

  /** `work` runs after every commit. */
  afterEachWrite(work: () => void) {
    afterWrite(this.db, work)
  }

  /** How far each step of a job is, by its name. */
  of(jobId: string): Record<string, Noted> {
    const noted: Record<string, Noted> = {}
    for (const { name, state, output } of this.statements.steps.all(jobId))
      noted[name] = { state, output: output === null ? null : JSON.parse(output) }
    return noted
  }

  note(_: Tx, jobId: string, name: string, state: 'started' | 'done' | 'undone', output: unknown) {
    this.statements.note.run(jobId, name, state, output === null ? null : JSON.stringify(output))
  }

  set(jobId: string, values: Partial<typeof jobs.$inferInsert>) {
    write(this.db, (tx) => void tx.update(jobs).set(values).where(eq(jobs.id, jobId)).run())
  }

  /**
   * The writes of many jobs go to disk together, so that eighty jobs cost one flush and not eighty: with the next
   * transaction of another, such as an order, or in one of their own at the end of this turn of the loop. Resolves
   * with what `work` answered when it is there. `work` that throws takes back what it wrote itself, and nothing of the
   * others. `ends`: it ends a job, so its log is written before.
   */
  async together<T>(work: (tx: Tx) => T, ends = false): Promise<T> {
    if (this.going() <= FEW) {
      if (ends) this.beforeEnds()
      return write(this.db, work as (tx: Tx) => never)
    }
    return await new Promise<T>((resolve, reject) => {
      if (!this.waiting.length) {
        const othersWrite = performance.now() - this.othersWroteAt < OTHERS_MS
        if (othersWrite) setTimeout(() => this.writeAll(), JOINING_MS)
        else setImmediate(() => this.writeAll())
      }
      this.waiting.push({ work, ends, resolve: resolve as (value: unknown) => void, reject })
    })
  }

  private writeAll() {
    if (!this.waiting.length) return
    this.isWriting = true
    try {
      write(this.db, () => {})
    } catch (error) {
      for (const { reject } of this.waiting.splice(0)) reject(error)
    } finally {
      this.isWriting = false
    }
  }

  /** Until the transaction has committed they still wait: when it is rolled back, another one takes them. */
  private takeAlong(tx: Tx) {
    this.taken.clear()
    const endedBefore = this.ended
    for (const waiting of this.waiting) {
      try {
        const value = savepoint(tx, () => waiting.work(tx))
        this.taken.set(waiting, () => waiting.resolve(value))
      } catch (error) {
        if (isDatabaseError(error) || !tx.$client.inTransaction) throw error
        this.taken.set(waiting, () => waiting.reject(error))
      }
    }
    const left = this.going() - (this.ended - endedBefore)
    if (this.ended >= DELETED_AFTER || (this.ended && left <= FEW)) this.forgetOld(tx)
  }

  private settle() {
    if (!this.isWriting) this.othersWroteAt = performance.now()
    if (!this.taken.size) return
    const settled = [...this.taken.values()]
    this.waiting = this.waiting.filter((each) => !this.taken.has(each))
    this.taken.clear()
    for (const each of settled) each()
  }

  /** Asks that the oldest jobs are deleted. */
  hasEnded(tx: Tx) {
    this.ended++
    if (this.going() <= FEW) this.forgetOld(tx)
  }

  /** Deletes the oldest jobs that have ended, beyond those that are kept; however many wait, they stay. */
  private forgetOld(tx: Tx) {
    this.ended = 0
    const ids = this.statements.old.all().map((j) => j.id)
    if (!ids.length) return
    for (const table of [jobLog, jobSteps]) tx.delete(table).where(inArray(table.jobId, ids)).run()
    tx.delete(jobs).where(inArray(jobs.id, ids)).run()
  }
}
