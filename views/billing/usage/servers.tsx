import { exportUsage, reportUsage } from '../../../src/billing/usage/report.ts'
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { Download } from '../../components/list.tsx'
import { span } from '../../components/time.tsx'
import { shortId } from '../../components/words.ts'
import { GpuUsageLink } from './gpu.tsx'
import { Days, useMonth } from './month.tsx'
import { type LineOf, ownerColumn, Product, usageReportPages } from './report-page.tsx'

type Line = LineOf<typeof reportUsage.response>

export const usagePages = usageReportPages({
  path: '/usage',
  title: 'Usage by server',
  op: reportUsage,
  noun: 'server',
  none: 'There was no server in this month.',
  actions: (area) => (
    <>
      <GpuUsageLink area={area} />
      <Download op={exportUsage} label="CSV" />
    </>
  ),
  sub: (area) => (
    <>
      Every server of the month, as it was then, including terminated ones. Months are in UTC. Open a server to see the
      intervals behind its figures. Extra volumes are on <Link href={`${area}/usage/volumes`}>Usage by volume</Link>,
      extra and floating addresses on <Link href={`${area}/usage/addresses`}>Usage by address</Link>.
    </>
  ),
  idOf: ({ serverId, owner }) => `${serverId}-${owner.id}`,
  flow: true,
  columns: (area) => [
    { title: 'Server', kind: 'name', width: 22, cell: (line) => <Name of={line} area={area} /> },
    ...ownerColumn(area),
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
  ],
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
        <Product of={{ name, billingProductId }} none="No package" />
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
