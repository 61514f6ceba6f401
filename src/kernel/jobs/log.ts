// The log of a job: 600 lines each. When there are more, the middle goes: how it began and how it ended is what is
// read.
import type { LogLevel } from '../../../agent/protocol/wire.ts'
import { second } from '../db/clock.ts'
import { isDatabaseError } from '../db/health.ts'
import { type Db, prepared, type Tx, write } from '../db/open.ts'

/** Up to 600 lines a job. */
export const MOST_LINES = 600
const KEPT_FROM_START = 100
const MOST_CHARACTERS = 4096

/** Lines that could not be written are tried again after this time. */
const RETRY_MS = 2 * second

export type Line = { n: number; at: number; level: LogLevel; text: string }

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
}))

/** Control characters are shown, not sent to somebody's terminal. */
const visible = (text: string) =>
  text
    .slice(0, MOST_CHARACTERS)
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)

export const linesAfter = (db: Db, jobId: string, after: number, limit = MOST_LINES) =>
  statements(db).after.all(jobId, after, limit)

/**
 * Gathers lines and writes them a few times a second, so that a talkative command does not cost a disk flush per line.
 */
export class JobLog {
  private waiting = new Map<string, Omit<Line, 'n'>[]>()
  private timer: Timer | undefined
  private stopped = false
  constructor(
    private db: Db,
    private everyMs = 150,
  ) {}

  add(jobId: string, line: Omit<Line, 'n'>) {
    const lines = this.waiting.get(jobId) ?? []
    // A flood from a node must not fill the memory: the middle goes here as well.
    if (lines.length >= MOST_LINES) lines.splice(KEPT_FROM_START, 1)
    this.waiting.set(jobId, [...lines, { ...line, text: visible(line.text) }])
    if (!this.stopped) this.timer ??= setTimeout(() => this.flush(), this.everyMs)
  }

  /**
   * Writes what waits. Lines that come later are written only with the end of their job: the database may be closed by
   * then.
   */
  stop() {
    this.flush()
    this.stopped = true
  }

  /** Lines that the database cannot take now wait for their next turn. */
  flush() {
    if (!this.waiting.size) return
    const lines = this.waiting
    try {
      write(this.db, (tx) => this.flushInto(tx))
    } catch (error) {
      if (!isDatabaseError(error)) throw error
      this.waiting = lines
      clearTimeout(this.timer)
      this.timer = this.stopped ? undefined : setTimeout(() => this.flush(), RETRY_MS)
    }
  }

  /** Writes what waits, in the transaction that ends a job: its last line is there when its state says so. */
  flushInto(tx: Tx) {
    clearTimeout(this.timer)
    this.timer = undefined
    const batch = this.waiting
    this.waiting = new Map()
    const { next, insert, count, trim } = statements(tx)
    for (const [jobId, lines] of batch) {
      let n = next.get(jobId)!.n
      for (const { at, level, text } of lines) insert.run(jobId, n++, at, level, text)
      if (count.get(jobId)!.n > MOST_LINES) trim.run(jobId, n - 1)
    }
  }
}
