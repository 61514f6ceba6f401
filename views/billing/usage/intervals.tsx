import { reportIntervals } from '../../../src/billing/usage/report.ts'
import { Exact } from '../../components/time.tsx'
import { Days } from './month.tsx'
import { type LineOf, usageReportPages } from './report-page.tsx'

type Interval = LineOf<typeof reportIntervals.response>

export const usageIntervalPages = usageReportPages({
  path: '/usage/intervals',
  title: 'Intervals',
  op: reportIntervals,
  noun: 'interval',
  none: 'There was no server in this month.',
  sub: () =>
    'Each row is a period in which nothing about a server changed, newest first. A row that has ended never changes, ' +
    'and every figure of a report is a sum of rows.',
  filters: (first) => [{ name: 'serverId', label: 'Server', value: first?.hostname ?? 'one' }],
  flow: true,
  columns: () => [
    { title: 'Server', kind: 'name', width: 14, cell: (i) => i.hostname },
    { title: 'State', kind: 'state', width: 14, cell: (i) => states[i.state] },
    { title: 'Package', kind: 'mid', width: 14, cell: (i) => i.package.name ?? '–' },
    { title: 'Owner', kind: 'lo', width: 14, cell: (i) => i.owner.name },
    { title: 'From', cell: (i) => <Exact iso={i.beganAt} /> },
    { title: 'Until', cell: (i) => (i.endedAt === null ? 'now' : <Exact iso={i.endedAt} />) },
    { title: 'In the month', kind: 'a', num: true, width: 12, cell: (i) => <Days seconds={i.seconds} /> },
  ],
})

const states: Record<Interval['state'], string> = {
  pending_setup: 'Waiting for setup',
  provisioning: 'Being installed',
  active: 'Active',
  failed: 'Installation failed',
  suspended: 'Suspended',
}
