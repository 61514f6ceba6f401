import { page } from '../../kernel/api/list.ts'
import { operation, stream } from '../../kernel/api/operation.ts'
import { oneOf } from '../../kernel/api/query.ts'
import { csvPages } from '../../kernel/csv.ts'
import type { Db } from '../../kernel/db/open.ts'
import { type ImportServerState, pageOfServersIn, serversBySlice } from '../import-records/inventory/queries.ts'
import { filterFrom } from '../import-records/inventory/server-filter.ts'
import { importAccess, importRecord } from '../import-records/model.ts'
import { type Outcome, outcomes, type ReportRow, reportRow, showReportRow, statesOf, stepsAsText } from './rows.ts'

const outcomeQuery = { outcome: oneOf(outcomes, 'Only those with this outcome.') }
function statesWanted(query: Readonly<Record<string, string | undefined>>): ImportServerState[] {
  const outcome = query['outcome'] as Outcome | undefined
  return outcome === undefined ? outcomes.flatMap(statesOf) : statesOf(outcome)
}

export const getReport = operation({
  id: 'imports.report',
  method: 'GET',
  path: '/admin/migrations/{id}/report',
  summary: 'For the billing system: the old and the new id of each server, its product and owner, and the next steps',
  access: importAccess,
  on: importRecord,
  query: outcomeQuery,
  response: page(reportRow),
  run(call) {
    const { tx, target, query } = call
    return pageOfServersIn(call, target.id, statesWanted(query), (row) => showReportRow(tx, row))
  },
})

const AT_ONCE = 500
function* everyRow(tx: Db, importId: string, wanted: readonly ImportServerState[]): Generator<ReportRow[]> {
  for (let after = ''; ; ) {
    const rows = serversBySlice(tx, importId, filterFrom({}), after, AT_ONCE)
    yield rows.filter(({ state }) => wanted.includes(state)).map((row) => showReportRow(tx, row))
    if (rows.length < AT_ONCE) return
    after = rows.at(-1)!.id
  }
}

const joined = (words: readonly string[] | undefined) => words?.join(' ') ?? ''
export const exportReport = operation({
  id: 'imports.export-report',
  method: 'GET',
  path: '/admin/migrations/{id}/report.csv',
  summary: 'The report for the billing system as a spreadsheet',
  access: importAccess,
  on: importRecord,
  query: outcomeQuery,
  produces: 'text/csv',
  response: stream,
  run: ({ tx, target, query }) =>
    csvPages<ReportRow>(
      {
        oldId: (row) => row.oldId,
        newId: (row) => row.server?.id ?? null,
        server: (row) => row.server?.hostname ?? row.hostname,
        outcome: (row) => row.outcome,
        reason: (row) => row.reason,
        nextSteps: stepsAsText,
        oldBillingId: (row) => row.oldBillingId,
        billingServiceId: (row) => row.server?.billingServiceId ?? null,
        oldProduct: (row) => row.oldProduct.id,
        oldProductName: (row) => row.oldProduct.name,
        product: (row) => row.server?.packageId ?? null,
        productName: (row) => row.server?.packageName ?? null,
        billingProductId: (row) => row.server?.billingProductId ?? null,
        oldOwner: (row) => row.oldOwner.id,
        oldOwnerEmail: (row) => row.oldOwner.email,
        owner: (row) => row.server?.ownerId ?? null,
        ownerEmail: (row) => row.server?.ownerEmail ?? null,
        externalId: (row) => row.server?.externalId ?? null,
        oldAddresses: (row) => joined(row.oldAddresses),
        addresses: (row) => joined(row.server?.addresses),
        movedAt: (row) => row.movedAt,
      },
      everyRow(tx, target.id, statesWanted(query)),
    ),
})
