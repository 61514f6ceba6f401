import { exportGpuUsage, reportGpuUsage } from '../../../src/billing/usage/gpu/report.ts'
import { pageOf } from '../../../src/compute/gpu-instances/model.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Download, List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count, shortId } from '../../components/words.ts'
import { HeldTime } from './held.tsx'
import { MonthTabs, useMonth } from './month.tsx'

type Line = Answers<{ l: typeof reportGpuUsage }>['l']['data'][number]

export const gpuUsagePages = inEveryArea({
  path: '/usage/gpu',
  reads: { lines: reportGpuUsage },
  title: 'Usage by GPU instance',
  nav: 'reports',
  view: ({ lines }, area) => (
    <>
      <Head
        title="Usage by GPU instance"
        actions={
          <>
            <ServerUsage area={area} />
            <Download op={exportGpuUsage} label="CSV" />
          </>
        }
        sub={
          <span>
            Every GPU instance of the month, including deleted ones. An instance is billed for as long as it exists: its
            cards are held whether it runs or not. Months are in UTC.
          </span>
        }
      />
      <MonthTabs />
      <List
        of={lines}
        noun="GPU instance"
        filters={[
          { name: 'ownerId', label: 'Account', value: lines.data[0]?.owner.name ?? 'one' },
          { name: 'resellerId', label: 'Reseller', value: 'one' },
        ]}
        empty={<Empty>There was no GPU instance in this month.</Empty>}
        emptyWhenFiltered="There was no GPU instance in this month."
      >
        <LineTable lines={lines.data} area={area} />
      </List>
    </>
  ),
})

const ServerUsage = ({ area }: { area: Area }) => (
  <Link class="btn" to={`${area}/usage`} query={useMonth()}>
    Servers
  </Link>
)
/** From the usage of servers to that of GPU instances. */
export const GpuUsageLink = ({ area }: { area: Area }) => (
  <Link class="btn" to={`${area}/usage/gpu`} query={useMonth()}>
    GPU instances
  </Link>
)

const Name = ({ of, area }: { of: Line; area: Area }) => (
  <>
    {of.endedAt ? of.name : <Link href={pageOf(area, of.instanceId)}>{of.name}</Link>}
    <small class="mono" title={of.instanceId}>
      {shortId(of.instanceId)}
    </small>
  </>
)

function LineTable({ lines, area }: { lines: readonly Line[]; area: Area }) {
  const owner: Column<Line> = {
    title: 'Owner',
    kind: 'addr',
    width: 16,
    cell: ({ owner }) => (
      <>
        {owner.name}
        {owner.externalId && <small class="mono"> {owner.externalId}</small>}
      </>
    ),
  }
  return (
    <Table
      label="Usage by GPU instance"
      rows={lines}
      idOf={({ instanceId, owner }) => `${instanceId}-${owner.id}`}
      stick
      flow
      columns={[
        { title: 'Instance', kind: 'name', width: 20, cell: (line) => <Name of={line} area={area} /> },
        ...(area === '' ? [] : [owner]),
        {
          title: 'Offer',
          cell: ({ offer, billingProductId, intervals }) => (
            <>
              {offer.name ?? 'No offer'}
              {billingProductId && <small class="mono"> {billingProductId}</small>}
              <small>{count(intervals.length, 'spell')}</small>
            </>
          ),
        },
        { title: 'Running', kind: 'mid', num: true, width: 12, cell: (l) => <HeldTime seconds={l.runningSeconds} /> },
        { title: 'Stopped', kind: 'mid', num: true, width: 12, cell: (l) => <HeldTime seconds={l.stoppedSeconds} /> },
        {
          title: 'Suspended',
          kind: 'b',
          num: true,
          width: 12,
          cell: (l) => <HeldTime seconds={l.suspendedSeconds} unit="suspended" />,
        },
        {
          title: 'Held',
          kind: 'a',
          num: true,
          width: 12,
          cell: (l) => <HeldTime seconds={l.allocatedSeconds} unit="held" />,
        },
      ]}
    />
  )
}
