// The lines of a report, each made of a row of the ledger. They are read together, a page at a time.
import { type Page, paginate } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import type { Period } from './period.ts'
import { countLines, keyFrom, keyTextOf, type LineKey, lineKeys } from './queries.ts'

/** Which rows of one page: up to `limit`, behind the key `after` or after `skip` rows from the start. */
type Slice = { after: string | undefined; skip: number; limit: number }
/** The rows of the ledger that a report has a line for. */
export type Counted<Row> = {
  slice(tx: Db, where: Where, period: Period, slice: Slice): Row[]
  count(tx: Db, where: Where, period: Period): number
  keyOf(row: Row): string
}
/** A line for each workload and owner. */
export const workloads: Counted<LineKey> = {
  slice: (tx, where, period, { after, skip, limit }) =>
    lineKeys(tx, where, period, { after: keyFrom(after), skip, limit }),
  count: countLines,
  keyOf: keyTextOf,
}

const ROWS_AT_ONCE = 500
/** All rows in their order, read as they are asked for. */
export function* everyRow<Row>({ slice, keyOf }: Counted<Row>, tx: Db, where: Where, period: Period): Generator<Row[]> {
  for (let after: string | undefined; ; ) {
    const rows = slice(tx, where, period, { after, skip: 0, limit: ROWS_AT_ONCE })
    if (rows.length) yield rows
    if (rows.length < ROWS_AT_ONCE) return
    after = keyOf(rows.at(-1)!)
  }
}

/** Reads the lines of these rows together, in their order. */
export type LinesOf<Row, Line> = (
  call: ReadContext,
  rows: readonly Row[],
  where: Where,
  period: Period,
) => readonly Line[]
type Reported<Row, Line> = {
  /** Names the list, so that a cursor of another one is refused. */
  name: string
  counted: Counted<Row>
  lines: LinesOf<Row, Line>
}
/** A page of the lines of a period. Throws as `paginate`. */
export function pageOfLines<Row, Line>(
  call: ReadContext,
  [where, period]: [Where, Period],
  { name, counted, lines }: Reported<Row, Line>,
): Page<Line> {
  const { tx } = call
  const shown = new Map<string, Line>()
  return paginate({
    call,
    name,
    rows(slice) {
      const rows = counted.slice(tx, where, period, slice)
      for (const [i, line] of lines(call, rows, where, period).entries()) shown.set(counted.keyOf(rows[i]!), line)
      return rows
    },
    keyOf: counted.keyOf,
    total: () => counted.count(tx, where, period),
    show: (row) => shown.get(counted.keyOf(row))!,
  })
}

/** The rows on a page of a report: many, since billing reads all of them. */
export const reportPages = { usual: 200, most: 1000 } as const
