// The GPU instances of a month: the second half of the reports of usage.
import type { Static } from 'typebox'
import { page, paginate } from '../../../kernel/api/list.ts'
import { operation, type ReadContext, stream } from '../../../kernel/api/operation.ts'
import { type CsvColumns, csvPages } from '../../../kernel/csv.ts'
import { ownerColumns } from '../model.ts'
import { monthOf } from '../period.ts'
import { countLines, everyLineKey, keyFrom, keyTextOf, lineKeys, ofGpuInstances } from '../queries.ts'
import { asked, reportAccess, reportQuery } from '../report-query.ts'
import { gpuUsage, usageOf } from './model.ts'

type Line = Static<typeof gpuUsage>

export const reportGpuUsage = operation({
  id: 'usage.gpu-report',
  method: 'GET',
  path: '/reports/gpu-usage',
  summary: 'The GPU instances of a month: how long each was held and ran, deleted ones included',
  access: reportAccess,
  query: reportQuery,
  pages: { usual: 200, most: 1000 },
  response: page(gpuUsage),
  run(call) {
    const { tx } = call
    const [where, period] = asked(call, ofGpuInstances)
    let shown = new Map<string, Line>()
    return paginate({
      call,
      name: `gpu usage ${monthOf(period.from)}`,
      rows({ after, skip, limit }) {
        const keys = lineKeys(tx, where, period, { after: keyFrom(after), skip, limit })
        const lines = usageOf(call, keys, where, period)
        shown = new Map(lines.map((line, i) => [keyTextOf(keys[i]!), line]))
        return keys
      },
      keyOf: keyTextOf,
      total: () => countLines(tx, where, period),
      show: (key) => shown.get(keyTextOf(key))!,
    })
  },
})

/** The columns of the spreadsheet. */
export const gpuColumns: CsvColumns<Line> = {
  instanceId: (l) => l.instanceId,
  name: (l) => l.name,
  hostname: (l) => l.hostname,
  ...ownerColumns,
  offerId: (l) => l.offer.id,
  offer: (l) => l.offer.name,
  billingProductId: (l) => l.billingProductId,
  from: (l) => l.from,
  to: (l) => l.to,
  endedAt: (l) => l.endedAt,
  allocatedSeconds: (l) => l.allocatedSeconds,
  runningSeconds: (l) => l.runningSeconds,
  stoppedSeconds: (l) => l.stoppedSeconds,
  suspendedSeconds: (l) => l.suspendedSeconds,
}

export const exportGpuUsage = operation({
  id: 'usage.gpu-export',
  method: 'GET',
  path: '/reports/gpu-usage.csv',
  summary: 'The GPU instances of a month as a spreadsheet: one line for each instance and owner',
  access: reportAccess,
  query: reportQuery,
  produces: 'text/csv',
  response: stream,
  run(call: ReadContext) {
    const [where, period] = asked(call, ofGpuInstances)
    const pages = everyLineKey(call.tx, where, period)
    return csvPages(
      gpuColumns,
      pages.map((keys) => usageOf(call, keys, where, period)),
    )
  },
})
