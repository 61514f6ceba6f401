// A report of a month, whatever it counts: one operation answers its lines in pages, another all of them as a
// spreadsheet.
import type { Static, TSchema } from 'typebox'
import { page } from '../../kernel/api/list.ts'
import { operation, type ReadContext, stream } from '../../kernel/api/operation.ts'
import { type CsvColumns, csvPages } from '../../kernel/csv.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { type Counted, everyRow, type LinesOf, pageOfLines, reportPages } from './lines.ts'
import { monthOf } from './period.ts'
import { asked, reportAccess, reportQuery } from './report-query.ts'

type Report<Row, S extends TSchema> = {
  ids: { page: `usage.${string}`; spreadsheet: `usage.${string}` }
  path: `/reports/${string}`
  summaries: { page: string; spreadsheet: string }
  /** The name of its list; the month is put behind it. */
  name: string
  /** The intervals that it is about. */
  of: Where
  counted: Counted<Row>
  line: S
  lines: LinesOf<Row, Static<S>>
  columns: CsvColumns<Static<S>>
}
/** Both operations, for everybody who may read a report. */
export function monthReport<Row, S extends TSchema>(report: Report<Row, S>) {
  const { ids, path, summaries, name, of, counted, line, lines, columns } = report
  const both = { method: 'GET', access: reportAccess, query: reportQuery } as const
  return {
    page: operation({
      ...both,
      id: ids.page,
      path,
      summary: summaries.page,
      atReader: true,
      pages: reportPages,
      response: page(line),
      run(call: ReadContext) {
        const [where, period] = asked(call, of)
        const found = pageOfLines(call, [where, period], { name: `${name} ${monthOf(period.from)}`, counted, lines })
        // TypeScript does not resolve the page of a schema that it does not know yet.
        return found as Static<ReturnType<typeof page<S>>>
      },
    }),
    spreadsheet: operation({
      ...both,
      id: ids.spreadsheet,
      path: `${path}.csv`,
      summary: summaries.spreadsheet,
      produces: 'text/csv',
      atReader: true,
      response: stream,
      run(call: ReadContext) {
        const [where, period] = asked(call, of)
        return csvPages(
          columns,
          everyRow(counted, call.tx, where, period).map((rows) => lines(call, rows, where, period)),
        )
      },
    }),
  }
}
