import { exportUsage, reportUsage } from '../../../src/billing/usage/report.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Download, List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { span } from '../../components/time.tsx'
import { shortId } from '../../components/words.ts'
import { GpuUsageLink } from './gpu.tsx'
import { Days, MonthTabs, useMonth } from './month.tsx'

type Line = Answers<{ l: typeof reportUsage }>['l']['data'][number]

export const usagePages = inEveryArea({
  path: '/usage',
  reads: { lines: reportUsage },
  title: 'Usage by server',
  nav: 'reports',
  view: ({ lines }, area) => (
    <>
      <Head
        title="Usage by server"
        actions={
          <>
            <GpuUsageLink area={area} />
            <Download op={exportUsage} label="CSV" />
          </>
        }
        sub={
          <span>
            Every server of the month, as it was then, including terminated ones. Months are in UTC. Open a server to
            see the intervals behind its figures. Extra volumes are on{' '}
            <Link href={`${area}/usage/volumes`}>Usage by volume</Link>, extra and floating addresses on{' '}
            <Link href={`${area}/usage/addresses`}>Usage by address</Link>.
          </span>
        }
      />
      <MonthTabs />
      <List
        of={lines}
        noun="server"
        filters={[
          { name: 'ownerId', label: 'Account', value: lines.data[0]?.owner.name ?? 'one' },
          { name: 'resellerId', label: 'Reseller', value: 'one' },
        ]}
        empty={<Empty>There was no server in this month.</Empty>}
        emptyWhenFiltered="There was no server in this month."
      >
        <LineTable lines={lines.data} area={area} />
      </List>
    </>
  ),
})

const Name = ({ of, area }: { of: Line; area: Area }) => {
  const query = { ...useMonth(), serverId: of.serverId }
  return (
    <>
      <Link to={`${area}/usage/intervals`} query={query}>
        {of.hostname}
      </Link>
      <small class="mono" title={of.serverId}>
        {shortId(of.serverId)}
      </small>
    </>
  )
}
const Packages = ({ of }: { of: Line['packages'] }) => (
  <>
    {of.map(({ name, billingProductId, seconds }) => (
      <div>
        {name ?? 'No package'}
        {billingProductId && <small class="mono"> {billingProductId}</small>}
        {of.length > 1 && (
          <>
            {' '}
            · <Days seconds={seconds} inText />
          </>
        )}
      </div>
    ))}
  </>
)

/** Traffic is counted in thousands. */
const gigabytes = (bytes: number) => `${(bytes / 1e9).toLocaleString('en', { maximumFractionDigits: 2 })} GB`
const Traffic = ({ of }: { of: Line['traffic'] }) =>
  of ? (
    <>
      {gigabytes(of.inBytes)} · {gigabytes(of.outBytes)}
      {of.gapSeconds > 0 && <small>not measured for {span(of.gapSeconds * 1000)}</small>}
      {of.estimatedSeconds > 0 && <small>estimated for {span(of.estimatedSeconds * 1000)}</small>}
    </>
  ) : (
    <span class="muted">not measured</span>
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
      label="Usage by server"
      rows={lines}
      idOf={({ serverId, owner }) => `${serverId}-${owner.id}`}
      stick
      flow
      columns={[
        { title: 'Server', kind: 'name', width: 22, cell: (line) => <Name of={line} area={area} /> },
        ...(area === '' ? [] : [owner]),
        { title: 'Package', cell: ({ packages }) => <Packages of={packages} /> },
        { title: 'Traffic in and out', kind: 'mid', width: 18, cell: ({ traffic }) => <Traffic of={traffic} /> },
        {
          title: 'Suspended',
          kind: 'b',
          num: true,
          width: 10,
          cell: (l) => <Days seconds={l.secondsByState.suspended} unit="days suspended" />,
        },
        { title: 'Server-days', kind: 'a', num: true, width: 12, cell: (l) => <Days seconds={l.seconds} /> },
      ]}
    />
  )
}
