// The lists of boxes and their spreadsheets.
import { listing, pageOfListed, sortsOf, spreadsheetsOf } from '../../../../src/compute/workloads/list.ts'
import { listedAs, statuses, statusesOnNode, statusSql } from '../../../../src/fleet/workloads/status.ts'
import { actingBox, boxRecord, showBox } from './actions.ts'

const sorts = sortsOf({ exact: statusSql }, {})

export const boxLists = listing(actingBox, {
  words: { many: 'boxes', node: 'node', ended: 'Removed', searched: 'Part of a name or an owner.' },
  states: { statuses, is: listedAs, sql: statusSql, onNode: statusesOnNode },
  sorts,
  row: boxRecord,
  page: (call, name, listed) => pageOfListed(call, name, listed, { sorts, show: (id) => showBox(call.tx, id) }),
})

export const boxSpreadsheets = spreadsheetsOf(
  actingBox,
  boxLists,
  { id: (b) => b.id, name: (b) => b.name, status: (b) => b.status },
  { columns: { billingServiceId: (b) => b.billingServiceId } },
)
