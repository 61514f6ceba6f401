import { reportIntervals } from '../../../src/billing/usage/report.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'
import { Days, MonthTabs } from './month.tsx'

type Interval = Answers<{ i: typeof reportIntervals }>['i']['data'][number]

export const usageIntervalPages = inEveryArea({
  path: '/usage/intervals',
  reads: { intervals: reportIntervals },
  title: 'Intervals',
  nav: 'reports',
  view: ({ intervals }) => (
    <>
      <Head
        title="Intervals"
        sub={
          <span>
            Each row is a period in which nothing about a server changed, newest first. A row that has ended never
            changes, and every figure of a report is a sum of rows.
          </span>
        }
      />
      <MonthTabs />
      <List
        of={intervals}
        noun="interval"
        filters={[
          { name: 'serverId', label: 'Server', value: intervals.data[0]?.hostname ?? 'one' },
          { name: 'ownerId', label: 'Account', value: intervals.data[0]?.owner.name ?? 'one' },
          { name: 'resellerId', label: 'Reseller', value: 'one' },
        ]}
        empty={<Empty>There was no server in this month.</Empty>}
        emptyWhenFiltered="There was no server in this month."
      >
        <IntervalTable intervals={intervals.data} />
      </List>
    </>
  ),
})

const states: Record<Interval['state'], string> = {
  pending_setup: 'Waiting for setup',
  provisioning: 'Being installed',
  active: 'Active',
  failed: 'Installation failed',
  suspended: 'Suspended',
}

const IntervalTable = ({ intervals }: { intervals: readonly Interval[] }) => (
  <Table
    label="Intervals"
    rows={intervals}
    stick
    flow
    columns={[
      { title: 'Server', kind: 'name', width: 14, cell: (i) => i.hostname },
      { title: 'State', kind: 'state', width: 14, cell: (i) => states[i.state] },
      { title: 'Package', kind: 'mid', width: 14, cell: (i) => i.package.name ?? '–' },
      { title: 'Owner', kind: 'lo', width: 14, cell: (i) => i.owner.name },
      { title: 'From', cell: (i) => <Exact iso={i.beganAt} /> },
      { title: 'Until', cell: (i) => (i.endedAt === null ? 'now' : <Exact iso={i.endedAt} />) },
      { title: 'In the month', kind: 'a', num: true, width: 12, cell: (i) => <Days seconds={i.seconds} /> },
    ]}
  />
)
