// One reading of a panel: the import, its number, and how far it is.
import type { Clock } from '../../kernel/db/clock.ts'
import { second } from '../../kernel/db/clock.ts'
import { type Db, type Tx, write, writeUnflushed } from '../../kernel/db/open.ts'
import { Slices } from '../../kernel/slices.ts'
import type { ReadProgress, Sent } from '../import-records/model.ts'
import { changeImport, type ImportRecord, importById } from '../import-records/queries.ts'
import type { SourceOutcome } from '../sources/source.ts'

/** The import was cancelled, or another reading has begun: this one ends without a word. */
export class Superseded extends Error {}

type App = { clock: Clock }

export class Reading {
  readonly slices = new Slices()
  progress: ReadProgress = {}
  /** Of this reading. */
  requests = 0
  private notedAt = 0

  constructor(
    readonly db: Db,
    readonly app: App,
    readonly importId: string,
    readonly number: number,
    readonly signal: AbortSignal,
  ) {}

  /** Throws `Superseded`. */
  mustBeCurrent(tx: Db): ImportRecord {
    const row = importById(tx, this.importId)
    if (this.signal.aborted || row?.status !== 'discovering' || row.reading !== this.number) throw new Superseded()
    return row
  }

  /** One transaction, while the reading is still wanted. Throws `Superseded`. */
  write<T>(work: (tx: Tx, row: ImportRecord) => T extends Promise<unknown> ? never : T): T {
    return write(this.db, (tx) => work(tx, this.mustBeCurrent(tx)))
  }

  note({ list, read, total }: { list: string; read: number; total: number | null }) {
    this.progress = { ...this.progress, [list]: { read, total } }
  }

  /** Counts a request before it is sent, so that the count holds after a crash. Throws `Superseded`: none is sent. */
  sends() {
    this.requests++
    this.count((sent) => ({ ...sent, requests: sent.requests + 1 }))
  }

  answered({ ms, outcome }: { ms: number; outcome: SourceOutcome }) {
    if (outcome === 'read' && ms <= this.longestMs) return
    if (outcome === 'unsent') this.requests--
    if (outcome !== 'unsent') this.longestMs = Math.max(this.longestMs, ms)
    try {
      this.count((sent) => ({
        requests: sent.requests - (outcome === 'unsent' ? 1 : 0),
        refused: sent.refused + (outcome === 'refused' ? 1 : 0),
        longestMs: outcome === 'unsent' ? sent.longestMs : Math.max(sent.longestMs, ms),
      }))
    } catch (error) {
      if (!(error instanceof Superseded)) throw error
    }
  }
  private longestMs = 0
  private count(more: (sent: Sent) => Sent) {
    writeUnflushed(this.db, (tx) => {
      const row = this.mustBeCurrent(tx)
      changeImport(tx, row.id, { sent: more(row.sent) })
    })
  }

  /** As the panel answers; stored once a second. */
  told(progress: { list: string; read: number; total: number | null }) {
    this.note(progress)
    const now = this.app.clock()
    if (now < this.notedAt + second) return
    this.notedAt = now
    try {
      this.write((tx, row) => changeImport(tx, row.id, { progress: this.progress }))
    } catch (error) {
      // The reading notices by itself before it writes the next time.
      if (!(error instanceof Superseded)) throw error
    }
  }
}
