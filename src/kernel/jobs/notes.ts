// The tables of the runner: prepared once, with the notes of which steps are started, done and undone.
import { and, desc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { afterWrite, type Db, type Tx, write } from '../db/open.ts'
import type { Queued } from './lanes.ts'
import { jobLog, jobSteps, jobs, openStates } from './tables.ts'

/** How many jobs that have ended are kept. */
export const JOBS_KEPT = 1000
/** So few jobs do not wait for each other to write together. */
const FEW = 8

/** What a job waits for, as the sweep needs it. */
export type OpenJob = {
  id: string
  state: string
  nodeId: string | null
  waitingSince: number | null
  createdAt: number
}

export const prepareStatements = (db: Db) => ({
  // By rowid, not by id: ids sort by a clock, and clocks are set back. The index has only the jobs that wait, so neither the thousands
  // that have ended nor those that are known already are walked through after every commit.
  queuedSince: db.$client.prepare<Queued & { rowid: number }, [number]>(
    "SELECT rowid, id, node_id AS nodeId, lane, holds FROM jobs INDEXED BY jobs_queued WHERE state = 'queued' AND rowid > ? ORDER BY rowid",
  ),
  cancelled: db.$client.prepare<{ id: string }, []>(
    "SELECT id FROM jobs INDEXED BY jobs_cancel WHERE cancel_requested_at IS NOT NULL AND state IN ('queued', 'running') ORDER BY rowid",
  ),
  open: db.$client.prepare<OpenJob, []>(
    `SELECT id, state, node_id AS nodeId, waiting_since AS waitingSince, created_at AS createdAt FROM jobs
     WHERE state IN ('queued', 'running', 'undoing') AND (state <> 'queued' OR node_id IS NOT NULL)`,
  ),
  waits: db.$client.prepare('UPDATE jobs SET waiting_since = ? WHERE id = ?'),
  pendingUndos: db.$client.prepare<{ id: string; undoNodeId: string; holds: string | null }, []>(
    'SELECT id, undo_node_id AS undoNodeId, holds FROM jobs INDEXED BY jobs_undo WHERE undo_node_id IS NOT NULL ORDER BY rowid',
  ),
  openChildren: db.$client.prepare<{ id: string }, [string]>(
    "SELECT id FROM jobs WHERE parent_id = ? AND state IN ('queued', 'running', 'undoing')",
  ),
  childCount: db.$client.prepare<{ open: number; all: number }, [string]>(
    `SELECT count(*) FILTER (WHERE state IN ('queued', 'running', 'undoing')) AS "open", count(*) AS "all" FROM jobs WHERE parent_id = ?`,
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
  // Jobs whose undo is not through, and children whose parent still asks for them, are not old.
  old: db
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        inArray(jobs.state, ['succeeded', 'failed']),
        isNull(jobs.undoNodeId),
        sql`NOT EXISTS (SELECT 1 FROM jobs p WHERE p.id = ${jobs.parentId} AND p.state IN ('queued', 'running', 'undoing'))`,
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(100)
    .offset(JOBS_KEPT)
    .prepare(),
})

export class Notes {
  readonly statements: ReturnType<typeof prepareStatements>
  private waiting: ((tx: Tx) => void)[] = []
  private turn: Promise<void> | undefined

  constructor(
    private db: Db,
    /** How many jobs are going. */
    private going: () => number,
  ) {
    this.statements = prepareStatements(db)
  }

  /** `work` runs after every commit. */
  afterEachWrite(work: () => void) {
    afterWrite(this.db, work)
  }

  of(jobId: string) {
    return Object.fromEntries(this.statements.steps.all({ jobId }).map((s) => [s.name, s]))
  }

  note(_: Tx, jobId: string, name: string, state: 'started' | 'done' | 'undone', output: unknown) {
    this.statements.note.run(jobId, name, state, output === null ? null : JSON.stringify(output))
  }

  set(jobId: string, values: Partial<typeof jobs.$inferInsert>) {
    write(this.db, (tx) => void tx.update(jobs).set(values).where(eq(jobs.id, jobId)).run())
  }

  /**
   * What many jobs note about commands in one turn of the loop goes to disk together, so that eighty jobs cost one flush and not
   * eighty. Resolves when it is there. Only for notes, which do not fail: a record step has a transaction of its own.
   */
  async together(note: (tx: Tx) => void): Promise<void> {
    if (this.going() <= FEW) return write(this.db, note)
    this.turn ??= new Promise((resolve, reject) =>
      setImmediate(() => {
        this.turn = undefined
        const notes = this.waiting.splice(0)
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
    this.waiting.push(note)
    return this.turn
  }

  /** Deletes the oldest jobs that have ended, beyond those that are kept; however many wait, they stay. */
  forgetOld(tx: Tx) {
    const old = this.statements.old.all()
    if (!old.length) return
    const ids = old.map((j) => j.id)
    for (const table of [jobLog, jobSteps]) tx.delete(table).where(inArray(table.jobId, ids)).run()
    tx.delete(jobs).where(inArray(jobs.id, ids)).run()
  }
}

/** Progress within a step, as the node reports it: the job's bar moves on between two steps. `percent` is of the step at hand. */
export function stepProgress(db: Db, jobId: string, percent: number) {
  write(db, (tx) => {
    const job = tx
      .select()
      .from(jobs)
      .where(and(eq(jobs.id, jobId), inArray(jobs.state, [...openStates])))
      .get()
    if (!job?.stepN) return
    const progress = Math.min(99, Math.round(((job.stepN - 1 + percent / 100) / job.stepOf) * 100))
    if (progress > job.progress) tx.update(jobs).set({ progress }).where(eq(jobs.id, jobId)).run()
  })
}
