// The usage of boxes: of one in any period, and of all of them in a month, with its spreadsheet.
import { Type as t } from 'typebox'
import { workloads } from '../../../../src/billing/usage/lines.ts'
import {
  addedUp,
  ownerColumns,
  showAccount,
  showStates,
  usageAccount,
  within,
} from '../../../../src/billing/usage/model.ts'
import { monthReport } from '../../../../src/billing/usage/month-report.ts'
import { usageOfWorkload } from '../../../../src/billing/usage/of-workload.ts'
import { secondsOf } from '../../../../src/billing/usage/period.ts'
import { intervalsOf, keyTextOf } from '../../../../src/billing/usage/queries.ts'
import { nullable } from '../../../../src/kernel/api/operation.ts'
import { box, boxKind } from './box.ts'

export const boxUsage = usageOfWorkload({
  id: 'boxes.usage',
  path: '/boxes/{id}',
  summary: 'What a box was in a period',
  kind: boxKind.kind,
  resource: { name: box.name, notFound: box.notFound },
  response: t.Object({ secondsByState: t.Record(t.String(), t.Number()), services: t.Array(t.String()) }),
  show(_, period, intervalsIn) {
    const intervals = intervalsIn(period)
    const { byState } = addedUp(intervals.map((interval) => ({ ...interval, ms: within(interval, period) })))
    const services = intervals.flatMap(({ billingServiceId }) => billingServiceId ?? [])
    return { secondsByState: { ...showStates(byState) }, services: [...new Set(services)] }
  },
})

const line = t.Object({
  boxId: t.String(),
  hostname: t.String(),
  owner: usageAccount,
  resellerId: nullable(t.String()),
  billingServiceId: nullable(t.String()),
  seconds: t.Number(),
})

export const boxReport = monthReport({
  ids: { page: 'usage.boxes', spreadsheet: 'usage.boxes-export' },
  path: '/reports/box-usage',
  summaries: { page: 'The boxes of a month', spreadsheet: 'The boxes of a month as a spreadsheet' },
  name: 'box usage',
  of: { where: `i.kind = '${boxKind.kind}'`, values: [] },
  counted: workloads,
  line,
  lines({ tx }, keys, where, period) {
    const ids = [...new Set(keys.map(({ workloadId }) => workloadId))]
    const intervals = Map.groupBy(intervalsOf(tx, ids, where, period), keyTextOf)
    return keys.map((key) => {
      const found = intervals.get(keyTextOf(key))!
      const { hostname, resellerId, billingServiceId } = found.at(-1)!
      const ms = found.reduce((sum, interval) => sum + within(interval, period), 0)
      const owner = showAccount(tx, key.ownerId)
      return { boxId: key.workloadId, hostname, owner, resellerId, billingServiceId, seconds: secondsOf(ms) }
    })
  },
  columns: { boxId: (l) => l.boxId, ...ownerColumns, seconds: (l) => l.seconds },
})
