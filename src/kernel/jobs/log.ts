// The log of a running job, up to 600 lines, and the progress of the step at hand. When there are more lines, the
// middle goes: how it began and how it ended is what is read.
//
// Most of it comes from nodes. It is written in transactions of its own, never in one that carries a job on, and each
// job's part in a savepoint: a value that the database refuses costs that part, and no other job.
import { escaped } from '../../../agent/protocol/text.ts'
import type { LogLevel } from '../../../agent/protocol/wire.ts'
import { minute, second } from '../db/clock.ts'
import { isDatabaseError } from '../db/health.ts'
import { type Db, isInTransaction, prepared, savepoint, type Tx, writeUnflushed } from '../db/open.ts'
import { Repeated } from '../event-counter.ts'
import { log } from '../log.ts'
import { scrubbed } from './unstored.ts'

/** Up to 600 lines a job. */
export const MOST_LINES = 600
const KEPT_FROM_START = 100
const MOST_CHARACTERS = 4096

/** Lines that could not be written are tried again after this time. */
const RETRY_MS = 2 * second

export type Line = { n: number; at: number; level: LogLevel; text: string }
type NewLine = Omit<Line, 'n'>
type Said = { lines: NewLine[]; percent: number | undefined }

const statements = prepared(({ $client }) => ({
  next: $client.prepare<{ n: number }, [string]>('SELECT coalesce(max(n), 0) + 1 AS n FROM job_log WHERE job_id = ?'),
  insert: $client.prepare('INSERT INTO job_log (job_id, n, at, level, text) VALUES (?, ?, ?, ?, ?)'),
  count: $client.prepare<{ n: number }, [string]>('SELECT count(*) AS n FROM job_log WHERE job_id = ?'),
  trim: $client.prepare(
    `DELETE FROM job_log WHERE job_id = ?1 AND n > ${KEPT_FROM_START} AND n <= ?2 - ${MOST_LINES - KEPT_FROM_START}`,
  ),
  after: $client.prepare<Line, [string, number, number]>(
    'SELECT n, at, level, text FROM job_log WHERE job_id = ? AND n > ? ORDER BY n LIMIT ?',
  ),
  // The bar moves on within the step at hand, and never back.
  progress: $client.prepare(
    `UPDATE jobs SET progress = min(99, round((step_n - 1 + ?2 / 100.0) / step_of * 100))
     WHERE id = ?1 AND step_n > 0 AND state IN ('queued', 'running', 'undoing')
       AND progress < min(99, round((step_n - 1 + ?2 / 100.0) / step_of * 100))`,
  ),
}))

/** Control characters are shown, not sent to somebody's terminal. */
const visible = (text: string) => escaped(text.slice(0, MOST_CHARACTERS))

export const linesAfter = (db: Db, jobId: string, after: number, limit = MOST_LINES) =>
  statements(db).after.all(jobId, after, limit)

/**
 * Gathers what is said and writes it a few times a second, so that a talkative command does not cost a disk flush per
 * line.
 */
export class JobLog {
  private waiting = new Map<string, Said>()
  private timer: Timer | undefined
  private stopped = false
  private refused = new Repeated<unknown>(minute, (jobId, times, error) =>
    log.error('lines of a job could not be kept', { jobId, times, error }),
  )
  constructor(
    private db: Db,
    private everyMs = 150,
  ) {}

  add(jobId: string, line: NewLine) {
    const { lines } = this.of(jobId)
    // A flood from a node must not fill the memory: the middle goes here as well.
    if (lines.length >= MOST_LINES) lines.splice(KEPT_FROM_START, 1)
    lines.push({ ...line, text: visible(scrubbed(this.db, jobId, line.text)) })
  }

  /** Progress within a step, as the node reports it: `percent` of the step at hand. */
  progress(jobId: string, percent: number) {
    this.of(jobId).percent = percent
  }

  private of(jobId: string): Said {
    let said = this.waiting.get(jobId)
    if (!said) this.waiting.set(jobId, (said = { lines: [], percent: undefined }))
    if (!this.stopped) this.timer ??= setTimeout(() => this.flush(), this.everyMs)
    return said
  }

  /**
   * Writes what waits. Lines that come later are written only with the end of their job: the database may be closed by
   * then.
   */
  stop() {
    this.flush()
    this.stopped = true
    this.refused.stop()
  }

  /**
   * Writes what waits: also before a job ends, so that its last line is there when its state says so. What cannot be
   * written now waits for its next turn.
   */
  flush() {
    clearTimeout(this.timer)
    this.timer = undefined
    if (!this.waiting.size) return
    const batch = this.waiting
    this.waiting = new Map()
    try {
      writeUnflushed(this.db, (tx) => {
        for (const [jobId, said] of batch) this.keep(tx, jobId, said)
      })
    } catch (error) {
      if (!isDatabaseError(error)) this.refused.note('', error)
      this.putBack(batch)
      clearTimeout(this.timer)
      this.timer = this.stopped ? undefined : setTimeout(() => this.flush(), RETRY_MS)
    }
  }

  private putBack(batch: ReadonlyMap<string, Said>) {
    for (const [jobId, { lines, percent }] of batch) {
      const later = this.waiting.get(jobId)
      const all = [...lines, ...(later?.lines ?? [])]
      if (all.length > MOST_LINES) all.splice(KEPT_FROM_START, all.length - MOST_LINES)
      this.waiting.set(jobId, { lines: all, percent: later?.percent ?? percent })
    }
  }

  private keep(tx: Tx, jobId: string, said: Said) {
    try {
      savepoint(tx, () => insertInto(tx, jobId, said))
    } catch (error) {
      if (isDatabaseError(error) || !isInTransaction(tx)) throw error
      this.refused.note(jobId, error)
    }
  }
}

function insertInto(tx: Tx, jobId: string, { lines, percent }: Said) {
  const { next, insert, count, trim, progress } = statements(tx)
  if (percent !== undefined) progress.run(jobId, percent)
  if (!lines.length) return
  let n = next.get(jobId)!.n
  for (const { at, level, text } of lines) insert.run(jobId, n++, at, level, text)
  if (count.get(jobId)!.n > MOST_LINES) trim.run(jobId, n - 1)
}
