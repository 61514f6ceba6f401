// The GPU instances of a month: the second half of the reports of usage.
import { workloads } from '../lines.ts'
import { ownerColumns } from '../model.ts'
import { monthReport } from '../month-report.ts'
import { ofGpuInstances } from '../queries.ts'
import { gpuUsage, usageOf } from './model.ts'

export const { page: reportGpuUsage, spreadsheet: exportGpuUsage } = monthReport({
  ids: { page: 'usage.gpu-report', spreadsheet: 'usage.gpu-export' },
  path: '/reports/gpu-usage',
  summaries: {
    page: 'The GPU instances of a month: how long each was held and ran, deleted ones included',
    spreadsheet: 'The GPU instances of a month as a spreadsheet: one line for each instance and owner',
  },
  name: 'gpu usage',
  of: ofGpuInstances,
  counted: workloads,
  line: gpuUsage,
  lines: usageOf,
  columns: {
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
  },
})
