// One dry run: the import, its number, and whether it is still wanted.
import type { AppContext } from '../../kernel/api/operation.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { Slices } from '../../kernel/slices.ts'
import { type ImportRecord, importById } from '../import-records/queries.ts'

/** The import was cancelled, or another dry run has begun: this one ends without a word. */
export class Superseded extends Error {}

export class Run {
  readonly slices = new Slices()

  constructor(
    readonly db: Db,
    readonly app: AppContext,
    readonly importId: string,
    readonly number: number,
    readonly signal: AbortSignal,
  ) {}

  /** Throws `Superseded`. */
  mustBeCurrent(tx: Db): ImportRecord {
    const row = importById(tx, this.importId)
    if (this.signal.aborted || row?.status !== 'checking' || row.dryRun !== this.number) throw new Superseded()
    return row
  }

  /** One transaction, while the run is still wanted. Throws `Superseded`. */
  write<T>(work: (tx: Tx, row: ImportRecord) => T extends Promise<unknown> ? never : T): T {
    return write(this.db, (tx) => work(tx, this.mustBeCurrent(tx)))
  }
}
