// The list as a spreadsheet, in the forms in which billing systems and spreadsheet programs write it. It is read in
// slices: 20,000 lines at once would hold everybody up.
import { finished } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { type FieldError, invalid } from '../../kernel/api/errors.ts'
import type { Slices } from '../../kernel/slices.ts'
import { type ListedService, listedStates } from './compare.ts'

export const MOST_LINES = 20_000
export const COLUMNS = [
  'serverId',
  'instanceId',
  'billingServiceId',
  'ownerExternalId',
  'billingProductId',
  'state',
] as const
type Column = (typeof COLUMNS)[number]
const columnsByName = new Map(COLUMNS.map((column) => [column.toLowerCase(), column]))

const wrong = (message: FieldError['message']) => invalid({ field: 'csv', message })

/** Throws `validation_failed` for what is no such list. Empty cells are not compared. */
export async function listFromCsv(text: string, slices: Slices): Promise<ListedService[]> {
  if (!text.trim()) throw wrong('is empty: it needs a header, and a line for each service.')
  if (/[\0\ufffd]/.test(text)) throw wrong('is not text in UTF-8. Save the file as “CSV UTF-8”, or paste its lines.')
  const { body, separator } = withoutHint(text)
  const [header, ...rows] = await rowsOf(body, separator ?? separatorOf(body), slices)
  const columns = columnsOf(header ?? [])
  if (!rows.length) throw wrong('has no line below its header: it needs one for each service.')
  if (rows.length > MOST_LINES) throw wrong(`has more than ${MOST_LINES} lines.`)
  const list: ListedService[] = []
  for (const [i, row] of rows.entries()) {
    list.push(serviceOf(row, columns, i + 1))
    if (slices.isOver) await slices.rest()
  }
  return list
}

const SEPARATORS = [',', ';', '\t', '|'] as const
type Separator = (typeof SEPARATORS)[number]
const isSeparator = (text: string): text is Separator => (SEPARATORS as readonly string[]).includes(text)

/** Spreadsheet programs read and write a first line `sep=;`. */
function withoutHint(text: string): { body: string; separator: Separator | undefined } {
  const [line, separator = ''] = /^\ufeff?"?sep=([^\r\n])"?[^\r\n]*(?:\r\n?|\n|$)/i.exec(text) ?? []
  if (line === undefined) return { body: text, separator: undefined }
  if (!isSeparator(separator)) throw wrong('names a separator in its first line that is none of , ; | and the tab.')
  return { body: text.slice(line.length), separator }
}

/** The one that the header has most of. */
function separatorOf(text: string): Separator {
  const header = /[^\r\n]*/.exec(text.trimStart())![0]
  const countOf = (separator: string) => header.split(separator).length
  return SEPARATORS.reduce((best, one) => (countOf(one) > countOf(best) ? one : best))
}

const CHUNK_BYTES = 16_384
/** Rows of cells, those without any content left out. */
async function rowsOf(text: string, delimiter: Separator, slices: Slices): Promise<string[][]> {
  const rows: string[][] = []
  const parser = parse({ delimiter, bom: true, trim: true, skip_empty_lines: true, relax_column_count: true })
  parser.on('data', (row: string[]) => void (row.some((cell) => cell !== '') && rows.push(row)))
  const end = finished(parser).then(
    () => undefined,
    () => wrong(`is not CSV: look at the quotation marks behind line ${rows.length}.`),
  )
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length && !parser.destroyed && rows.length <= MOST_LINES + 1; at += CHUNK_BYTES) {
    parser.write(bytes.subarray(at, at + CHUNK_BYTES))
    await slices.rest()
  }
  if (!parser.destroyed) parser.end()
  const failure = await end
  if (failure) throw failure
  return rows
}

/** The columns in the order of the header; undefined for one without a name, as a trailing separator makes it. */
function columnsOf(header: readonly string[]): (Column | undefined)[] {
  const columns = header.map((cell) => {
    const column = columnsByName.get(cell.toLowerCase())
    if (!column && cell) throw wrong(`has a column that is none of ${COLUMNS.join(', ')}.`)
    return column
  })
  const named = columns.filter((column) => column !== undefined)
  if (new Set(named).size < named.length) throw wrong('has two columns of one name.')
  return columns
}

const isState = (text: string): text is (typeof listedStates)[number] =>
  (listedStates as readonly string[]).includes(text)
/** A spreadsheet program writes a long number so, and its last digits are lost. */
const SHORTENED = /^\d(?:[.,]\d+)?E\+?\d+$/i
const MOST_CHARACTERS = 200

function serviceOf(row: readonly string[], columns: readonly (Column | undefined)[], line: number): ListedService {
  const cells: Partial<Record<Column, string>> = {}
  if (row.length < columns.length) throw wrong(`line ${line} has fewer cells than the header.`)
  for (const [i, cell] of row.entries()) {
    if (cell === '') continue
    const column = columns[i]
    if (!column) throw wrong(`line ${line} has a cell in a column without a name.`)
    if (cell.length > MOST_CHARACTERS)
      throw wrong(`line ${line}: ${column} has more than ${MOST_CHARACTERS} characters.`)
    if (SHORTENED.test(cell))
      throw wrong(`line ${line}: ${column} is a shortened number. Format the column as text and export it again.`)
    cells[column] = cell
  }
  const state = cells.state?.toLowerCase() ?? null
  if (state !== null && !isState(state))
    throw wrong(`line ${line}: the state must be one of ${listedStates.join(', ')}.`)
  return { ...cells, state }
}
