// Lists as spreadsheets.
import { stringify } from 'csv-stringify/sync'
import type { Static, TSchema } from 'typebox'
import type { Page } from './api/list.ts'
import { type Operation, operation, type ReadContext, stream } from './api/operation.ts'

/**
 * A cell that a spreadsheet would take for a formula becomes text, also behind a semicolon: where people write decimal
 * commas, a spreadsheet splits at semicolons, also inside quotes.
 */
export const harmless = (cell: string) => cell.replace(/(?<=(?:^|[;\t\r\n]) *)(?=[=+\-@\t\r])/g, "'")

/** Lines of a spreadsheet, every cell quoted and none of them a formula. */
export const csvLines = (rows: readonly (readonly string[])[]): string =>
  stringify(
    rows.map((row) => row.map(harmless)),
    { quoted: true },
  )

/** The first line of a file: its mark says UTF-8 to spreadsheets that would take another encoding, such as Excel. */
export const csvHead = (headings: readonly string[]): string => `\uFEFF${csvLines([headings])}`

/** The columns of a spreadsheet by their headings. Numbers have a decimal point; null is an empty cell. */
export type CsvColumns<R> = Readonly<Record<string, (row: R) => string | number | null>>

/** A spreadsheet in parts: its headings, and then each of `pages` when it is asked for. */
export function* csvPages<R>(columns: CsvColumns<R>, pages: Iterable<readonly R[]>): Generator<string> {
  yield csvHead(Object.keys(columns))
  for (const rows of pages)
    if (rows.length) yield csvLines(rows.map((row) => Object.values(columns).map((value) => String(value(row) ?? ''))))
}

type Row<A extends TSchema> = Static<A> extends { data: readonly (infer R)[] } ? R : never
type Exported<A extends TSchema> = {
  id: string
  path: string
  summary: string
  columns: CsvColumns<Row<A>>
  /** Further columns of what the list itself does not say, read for each page of rows at once. */
  beside?: Beside<Row<A>>
  /** It shows what only the memory of the controller has, so no reader can make it. */
  fromMemory?: true
}
export type Beside<R> = {
  headings: readonly string[]
  /** The cells of each row of the page, in their order. */
  cells(call: ReadContext, rows: readonly R[]): (string | number | null)[][]
}

/**
 * The operation that answers a list as a spreadsheet: the same rights and filters, all pages. Each page is its own
 * read; one transaction would stay open until the client has read everything.
 */
export function csvOf<A extends TSchema>(list: Operation<unknown, any, A, 'GET'>, exported: Exported<A>) {
  const { id, path, summary, beside, fromMemory } = exported
  const { cursor: _, limit: __, ...query } = list.query ?? {}
  const pages = { usual: list.pages!.most, most: list.pages!.most }
  return operation({
    id,
    method: 'GET',
    path,
    summary,
    access: list.access,
    query,
    produces: 'text/csv',
    response: stream,
    ...(!fromMemory && { atReader: true }),
    ...(list.refuses && { refuses: list.refuses }),
    run(call: ReadContext) {
      const read = (cursor: string | null) =>
        list.run({ ...call, pages, query: { ...call.query, ...(cursor && { cursor }) } } as never) as Page<Row<A>>
      type Cells = { row: Row<A>; more: (string | number | null)[] }
      const withCells = (rows: readonly Row<A>[]): Cells[] => {
        const more = beside?.cells(call, rows)
        return rows.map((row, i) => ({ row, more: more?.[i] ?? [] }))
      }
      const columns: CsvColumns<Cells> = {
        ...Object.fromEntries(
          Object.entries(exported.columns).map(([name, value]) => [name, ({ row }: Cells) => value(row)]),
        ),
        ...Object.fromEntries((beside?.headings ?? []).map((name, i) => [name, ({ more }: Cells) => more[i] ?? null])),
      }
      // Before anything is answered, so that a refusal is one.
      const first = read(null)
      return csvPages(
        columns,
        (function* () {
          yield withCells(first.data)
          for (let cursor = first.nextCursor; cursor; ) {
            const page = read(cursor)
            yield withCells(page.data)
            cursor = page.nextCursor
          }
        })(),
      )
    },
  })
}
