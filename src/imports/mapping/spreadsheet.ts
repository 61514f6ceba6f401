// The mapping as a spreadsheet: downloaded, edited, and sent back. Nothing is decided before the difference was seen.
import { finished } from 'node:stream/promises'
import { parse } from 'csv-parse'
import { Type as t } from 'typebox'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import {
  described,
  fields,
  namedSchema,
  nullable,
  operation,
  type PrepareContext,
  stream,
} from '../../kernel/api/operation.ts'
import { oneOf } from '../../kernel/api/query.ts'
import { csvPages } from '../../kernel/csv.ts'
import type { Db } from '../../kernel/db/open.ts'
import { Slices } from '../../kernel/slices.ts'
import { settle } from '../import-records/choices/queries.ts'
import { type Part, type PartRow, parts, rowsOf } from '../import-records/inventory/queries.ts'
import { type ImportRecord, importAccess, importRecord } from '../import-records/model.ts'
import { noteMapped } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { chooseOne, choosing, type Given } from './choose.ts'

type Line = { part: Part; id: string; name: string; choice: string; target: string }
const COLUMNS = ['part', 'id', 'name', 'choice', 'target'] as const

/** The package, location or account that a choice names. */
const targetOf: { readonly [P in Part]: (row: PartRow[P]) => string | null } = {
  packages: ({ packageId }) => packageId,
  ranges: ({ poolId }) => poolId,
  hypervisors: ({ locationId }) => locationId,
  owners: ({ choice, accountId, resellerId }) => (choice === 'existing' ? accountId : resellerId),
}
const lineOf = (part: Part, row: PartRow[Part]): Line => ({
  part,
  id: row.sourceId,
  name: row.name ?? (row as PartRow['owners']).email ?? '',
  choice: row.choice ?? '',
  target: (targetOf[part] as (row: PartRow[Part]) => string | null)(row) ?? '',
})

const AT_ONCE = 500
function* pagesOf(tx: Db, importId: string, wanted: readonly Part[]): Generator<Line[]> {
  for (const part of wanted)
    for (let at: string | undefined = ''; at !== undefined; ) {
      const rows: PartRow[Part][] = rowsOf[part].from(tx, importId, at, AT_ONCE + 1)
      yield rows.slice(0, AT_ONCE).map((row) => lineOf(part, row))
      at = rows[AT_ONCE]?.sourceId
    }
}

export const exportMapping = operation({
  id: 'imports.export-mapping',
  method: 'GET',
  path: '/admin/migrations/{id}/mapping.csv',
  summary: 'What is decided as a spreadsheet: edit choice and target, and upload it again',
  access: importAccess,
  on: importRecord,
  query: { part: oneOf(parts, 'Only this part.') },
  produces: 'text/csv',
  response: stream,
  run: ({ tx, target, query }) =>
    csvPages<Line>(
      {
        part: (one) => one.part,
        id: (one) => one.id,
        name: (one) => one.name,
        choice: (one) => one.choice,
        target: (one) => one.target,
      },
      pagesOf(tx, target.id, query['part'] ? [query['part'] as Part] : parts),
    ),
})

const MOST_LINES = 40_000
const MOST_SHOWN = 200
type Parsed = { line: number; cells: Line | string }

const wrong = (message: `${string}.`) => invalid({ field: 'csv', message })
/** A cell that was made harmless for spreadsheets, as it was. */
const plain = (cell: string) => cell.replace(/(?<=(?:^|[;\t\r\n]) *)'(?=[=+\-@\t\r])/g, '')

/** The lines, each with its number. Throws `validation_failed` for what is no such spreadsheet. */
async function linesOf(text: string, slices: Slices): Promise<Parsed[]> {
  const head = /[^\r\n]*/.exec(text.replace(/^\ufeff/, ''))![0]
  const separator = head.split(';').length > head.split(',').length ? ';' : ','
  const found: Parsed[] = []
  let places: number[] | undefined
  const parser = parse({
    delimiter: separator,
    bom: true,
    info: true,
    skip_empty_lines: true,
    relax_column_count: true,
  })
  parser.on('data', ({ record, info }: { record: string[]; info: { lines: number } }) => {
    if (places) found.push({ line: info.lines, cells: cellsOf(record, places) })
    else places = placesIn(record)
  })
  const end = finished(parser).then(
    () => undefined,
    () => wrong('is not CSV: look at the quotation marks.'),
  )
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length && !parser.destroyed && found.length <= MOST_LINES; at += 16_384) {
    parser.write(bytes.subarray(at, at + 16_384))
    if (slices.isOver) await slices.rest()
  }
  if (!parser.destroyed) parser.end()
  const failure = await end
  if (failure) throw failure
  if (found.length >= MOST_LINES) throw wrong('has more lines than an import has rows.')
  if (!places || places.some((place, i) => place < 0 && COLUMNS[i] !== 'name'))
    throw wrong('has no columns part, id, choice and target in its first line.')
  return found
}
/** Where each column is in the first line; -1: nowhere. */
function placesIn(first: readonly string[]): number[] {
  const columns = first.map((cell) => cell.trim().toLowerCase())
  return COLUMNS.map((name) => columns.indexOf(name))
}
/** The cells of a line, or why it cannot be used. */
function cellsOf(record: readonly string[], places: readonly number[]): Line | string {
  const [part, id, name, choice, target] = places.map((place) => plain(record[place] ?? '').trim())
  return (parts as readonly string[]).includes(part!)
    ? { part: part as Part, id: id!, name: name!, choice: choice!, target: target! }
    : `unknown part “${part!.slice(0, 40)}”`
}

const choicesOf: Readonly<Record<Part, readonly string[]>> = {
  packages: ['own', 'like', 'leave_out'],
  ranges: ['keep', 'new', 'pool', 'leave_out'],
  hypervisors: ['copy', 'adopt', 'leave_out'],
  owners: ['create', 'merge', 'separate', 'client_area', 'existing', 'one_account', 'leave_out'],
}
function givenOf({ part, id: sourceId, choice: text, target }: Line): Given[Part] {
  const choice = text === '' ? null : text
  const named = target || undefined
  const given = {
    packages: { sourceId, choice, ...(choice === 'own' && { packageId: named }) },
    ranges: { sourceId, choice },
    hypervisors: { sourceId, choice, ...(choice === 'copy' && { locationId: named }) },
    owners: {
      sourceId,
      choice,
      ...(choice === 'existing' ? { accountId: named } : named && choice !== null && { resellerId: named }),
    },
  }
  return given[part] as Given[Part]
}

const change = t.Object({
  line: t.Integer(),
  part: t.Enum([...parts]),
  sourceId: t.String(),
  name: nullable(t.String()),
  from: nullable(t.String()),
  to: nullable(t.String()),
})
export const uploadMapping = operation({
  id: 'imports.upload-mapping',
  method: 'POST',
  path: '/admin/migrations/{id}/mapping/actions/upload',
  summary: 'Decide by a spreadsheet that was downloaded and edited; a dry run tells the difference',
  past: 'Uploaded a mapping',
  access: importAccess,
  on: importRecord,
  dryRun: true,
  body: fields({ csv: t.String({ minLength: 1, maxLength: 4_000_000 }) }),
  response: namedSchema('ImportUpload', {
    changed: described(t.Integer(), 'Decisions that change.'),
    unchanged: t.Integer(),
    changes: described(t.Array(change), `The first ${MOST_SHOWN}.`),
    unusable: described(t.Integer(), 'Lines that cannot be used; the others are.'),
    faults: described(t.Array(t.Object({ line: t.Integer(), words: t.String() })), `The first ${MOST_SHOWN}.`),
  }),
  refuses: ['import_not_discovered', 'import_busy', 'import_started', 'import_ended'],
  example: { csv: 'part,id,choice,target\npackages,7,leave_out,\n' },
  auditBody: ({ csv }) => ({ characters: csv.length }),
  prepare: ({ body }: PrepareContext<ImportRecord, { csv: string }>) => linesOf(body.csv, new Slices()),
  run(call) {
    const { tx, target, prepared } = call
    mustAllow(target, 'map')
    const by = choosing(call)
    const result = { changed: 0, unchanged: 0, changes: [] as object[], unusable: 0, faults: [] as object[] }
    const unusable = (line: number, words: string) => {
      result.unusable++
      if (result.faults.length < MOST_SHOWN) result.faults.push({ line, words })
    }
    for (const { line, cells } of prepared) {
      if (typeof cells === 'string') {
        unusable(line, cells)
        continue
      }
      const { part, id, choice } = cells
      const row = rowsOf[part].find(tx, target.id, id)
      if (!row) unusable(line, `${part} ${id.slice(0, 60)} is not in this import`)
      else if (choice !== '' && !choicesOf[part].includes(choice))
        unusable(line, `unknown choice “${choice.slice(0, 40)}”`)
      else {
        const before = lineOf(part, row)
        // A pool follows from the range, so its column says nothing.
        if (before.choice === choice && (part === 'ranges' || before.target === cells.target)) {
          result.unchanged++
          continue
        }
        try {
          chooseOne(by, part, givenOf(cells) as never)
          result.changed++
          if (result.changes.length < MOST_SHOWN)
            result.changes.push({
              ...{ line, part, sourceId: id, name: row.name, from: before.choice || null, to: choice || null },
            })
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          const [field] = (error.details as { fields?: { message: string }[] } | undefined)?.fields ?? []
          unusable(line, field ? `the target ${field.message}` : error.message)
        }
      }
    }
    settle(tx, target.id)
    if (result.changed) noteMapped(tx, target.id)
    return result as never
  },
})
