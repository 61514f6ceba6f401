import { exportGpuUsage, reportGpuUsage } from '../../../src/billing/usage/gpu/report.ts'
import { pageOf } from '../../../src/compute/gpu-instances/model.ts'
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { Download } from '../../components/list.tsx'
import { count, shortId } from '../../components/words.ts'
import { HeldTime } from './held.tsx'
import { useMonth } from './month.tsx'
import { type LineOf, ownerColumn, Product, usageReportPages } from './report-page.tsx'

type Line = LineOf<typeof reportGpuUsage.response>

export const gpuUsagePages = usageReportPages({
  path: '/usage/gpu',
  title: 'Usage by GPU instance',
  op: reportGpuUsage,
  noun: 'GPU instance',
  none: 'There was no GPU instance in this month.',
  actions: (area) => (
    <>
      <ServerUsage area={area} />
      <Download op={exportGpuUsage} label="CSV" />
    </>
  ),
  sub: () =>
    'Every GPU instance of the month, including deleted ones. An instance is billed for as long as it exists: its ' +
    'cards are held whether it runs or not. Months are in UTC.',
  idOf: ({ instanceId, owner }) => `${instanceId}-${owner.id}`,
  flow: true,
  columns: (area) => [
    { title: 'Instance', kind: 'name', width: 20, cell: (line) => <Name of={line} area={area} /> },
    ...ownerColumn(area),
    {
      title: 'Offer',
      cell: ({ offer: { name }, billingProductId, intervals }) => (
        <>
          <Product of={{ name, billingProductId }} none="No offer" />
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
  ],
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
