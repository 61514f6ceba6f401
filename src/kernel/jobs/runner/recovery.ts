// Jobs that an error outside their steps has stopped: each is begun again after a pause that grows, and at once when
// the database can be written again. Memory only: the next start begins them all.
import { isDatabaseError } from '../../db/health.ts'
import { troubleOf } from '../../db/open.ts'
import type { Interrupted } from '../failures.ts'
import type { Job } from '../tables.ts'
import type { Execution } from './execution.ts'

/** The operations of the runner that recovery calls. */
type Beginning = {
  /** `place`: the job has its place in its lane. */
  begin(job: Job, place: boolean): void
  /** Begins queued jobs as far as their lanes allow. */
  kick(): void
  /** The row of the newest job that a lane knows: later ones are no orphans. */
  lastQueued(): number
}

export class Recovery {
  private jobs = new Map<string, Interrupted>()
  /** Jobs that a test stopped with a crash: only the next start goes on with them. */
  private crashed = new Set<string>()
  private timer: Timer | undefined

  constructor(
    private execution: Execution,
    private beginning: Beginning,
  ) {}

  all = (): readonly Interrupted[] => [...this.jobs.values()]

  /** Nothing begins it but `recover` or the next start. */
  isInterrupted = (id: string) => this.crashed.has(id) || this.jobs.has(id)

  hasCrashed(id: string) {
    this.crashed.add(id)
  }

  /** It went on, or has ended. */
  delete(id: string) {
    this.jobs.delete(id)
  }

  stop() {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  /** Keeps the job until it is begun again. `place`: it has a place in its lane, and keeps it. */
  interrupt(jobId: string, error: unknown, about: object, place = false) {
    const byDatabase = isDatabaseError(error)
    const reason = error instanceof Error ? error.message : String(error)
    const before = this.jobs.get(jobId)
    const tries = (before?.tries ?? 0) + 1
    const againAt = performance.now() + this.execution.pauseMs(tries)
    const since = before?.since ?? this.execution.clock()
    this.jobs.set(jobId, { jobId, reason, byDatabase, place, since, tries, againAt })
    // An error of the database is in the journal once, not once for each job.
    if (!byDatabase) this.execution.tell('error', 'a job stopped by an error in Berth itself', { ...about, error })
    this.stop()
    this.later()
  }

  /**
   * Begins interrupted jobs again whose pause is over, or all `at once`. Nothing begins while the database cannot be
   * written.
   */
  recover(when?: 'at once') {
    this.stop()
    const { stopping, db, going, lanes } = this.execution
    if (stopping || troubleOf(db)) return
    const now = performance.now()
    for (const { jobId, againAt, place } of this.all()) {
      if (going.has(jobId) || (againAt > now && when !== 'at once')) continue
      this.execution.quietly('beginning an interrupted job again', () => {
        const job = this.execution.statements.job.get({ id: jobId })
        if (job && isUnfinished(job)) return this.beginning.begin(job, place)
        this.jobs.delete(jobId)
        if (job) lanes.unlock(job.holds, jobId)
      })
    }
    this.execution.quietly('beginning queued jobs', () => this.beginning.kick())
    this.later()
  }

  /** Sets the timer for the next job whose pause ends. */
  later() {
    const times = this.all()
      .filter(({ jobId }) => !this.execution.going.has(jobId))
      .map(({ againAt }) => againAt)
    if (!times.length || this.execution.stopping || this.timer) return
    this.timer = setTimeout(() => this.recover(), Math.max(1, Math.min(...times) - performance.now()))
  }

  beginById(id: string, place: boolean) {
    try {
      this.beginning.begin(this.execution.statements.job.get({ id })!, place)
    } catch (error) {
      // It has its lock and its place, and keeps both until it is begun.
      this.interrupt(id, error, { jobId: id }, place)
    }
  }

  /** Begins unfinished jobs that nothing in memory looks after, whatever led to it. Answers how many. */
  pickUpOrphans(): number {
    const { stopping, db, going, lanes, parked } = this.execution
    if (stopping || troubleOf(db)) return 0
    let found = 0
    for (const { rowid, state, ...job } of this.execution.statements.unfinished.all()) {
      const { id } = job
      if (going.has(id) || lanes.has(id) || this.isInterrupted(id) || rowid > this.beginning.lastQueued()) continue
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
}

/** Also of a job that has failed and whose undo waits for a node. */
const isUnfinished = ({ state, undoNodeId }: Job) =>
  (state !== 'succeeded' && state !== 'failed') || undoNodeId !== null
