// The log as a file, newest first, to be kept elsewhere or read in a spreadsheet.

import { operation, type ReadContext, stream } from '../../kernel/api/operation.ts'
import { targetsOf } from '../../kernel/audit/target.ts'
import { csvHead, csvLines } from '../../kernel/csv.ts'
import { filterQuery, showLine } from './line.ts'
import { filterFrom, selectLinesOf } from './queries.ts'

/** Lines per read: some milliseconds of work, about 100 kB. */
const SLICE = 200

type Line = ReturnType<typeof showLine>

/**
 * Each slice is its own read: one transaction would stay open until the client has read everything. Lines never change
 * and new lines come before the first, so no line is missing or repeated. Filters are checked before the first byte is
 * sent.
 */
function slices(
  { tx: db, query, registry }: ReadContext,
  draw: (lines: Line[]) => string,
  head = '',
): Iterable<string> {
  const filter = filterFrom(db, query)
  const targets = targetsOf(registry)
  return (function* () {
    if (head) yield head
    for (let after: string | undefined; ; ) {
      const rows = selectLinesOf(db, targets, filter, { after, skip: 0, limit: SLICE, order: undefined })
      if (!rows.length) return
      after = rows.at(-1)!.id
      yield draw(rows.map(showLine))
    }
  })()
}

const same = {
  access: { staff: ['audit:read'] as const },
  query: filterQuery,
  response: stream,
  atReader: true,
} as const

export const exportAuditJson = operation({
  ...same,
  id: 'audit.export-jsonl',
  method: 'GET',
  path: '/admin/audit.jsonl',
  summary: 'The audit log as a file of JSON lines, newest first',
  produces: 'application/jsonl',
  run: (call) => slices(call, (lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
})

const columns = [
  'time',
  'who',
  'who_id',
  'via',
  'operation',
  'target',
  'target_name',
  'result',
  'from',
  'request',
  'changes',
  'sent',
  'id',
]

export const exportAuditCsv = operation({
  ...same,
  id: 'audit.export-csv',
  method: 'GET',
  path: '/admin/audit.csv',
  summary: 'The audit log as a spreadsheet, newest first',
  produces: 'text/csv',
  run: (call) => slices(call, (lines) => csvLines(lines.map(cells)), csvHead(columns)),
})

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const cells = (a: Line): string[] => [
  a.at,
  a.actor.name,
  a.actor.id,
  a.via.name ? `${a.via.type} ${a.via.name}` : a.via.type,
  a.operation,
  a.target ?? '',
  a.targetName ?? '',
  a.result,
  a.from,
  a.requestId,
  a.changes.map(({ field, before, after }) => `${field}: ${text(before)} → ${text(after)}`).join('; '),
  a.details === null ? '' : JSON.stringify(a.details),
  a.id,
]
