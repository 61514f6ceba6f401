// The extra and floating addresses of a month.
import { exportAddresses, reportAddresses } from '../../../src/billing/usage/addresses/report.ts'
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { Download } from '../../components/list.tsx'
import { shortId } from '../../components/words.ts'
import { Days, useMonth } from './month.tsx'
import { type LineOf, usageReportPages } from './report-page.tsx'

type Line = LineOf<typeof reportAddresses.response>

export const addressUsagePages = usageReportPages({
  path: '/usage/addresses',
  title: 'Usage by address',
  op: reportAddresses,
  noun: 'address',
  plural: 'addresses',
  none: 'There was no extra or floating address in this month.',
  actions: () => <Download op={exportAddresses} label="CSV" />,
  sub: (area) => (
    <>
      Every extra and floating address of the month, including released ones. Primary addresses belong to their server.
      Months are in UTC. Servers are on <Link href={`${area}/usage`}>Usage by server</Link>.
    </>
  ),
  idOf: (l) => `${l.addressId}-${l.floatingIpId ?? l.serverId}-${l.owner.id}`,
  columns: (area) => [
    {
      title: 'Address',
      kind: 'name',
      width: 32,
      cell: (l) => (
        <>
          <span class="mono">{textOf(l)}</span>
          <small>{l.kind === 'floating' ? 'Floating' : 'Extra'}</small>
        </>
      ),
    },
    ...(area === '' ? [] : [{ title: 'Owner', kind: 'addr', width: 24, cell: (l: Line) => l.owner.name } as const]),
    { title: 'Server', kind: 'mid', width: 26, cell: (l) => <Server of={l} area={area} /> },
    { title: 'Days', kind: 'a', num: true, width: 18, cell: (l) => <Days seconds={l.seconds} /> },
  ],
})

const textOf = ({ address, prefixLength, version }: Line) =>
  version === 6 && prefixLength < 128 ? `${address}/${prefixLength}` : address
const Server = ({ of: { serverId, billingServiceId }, area }: { of: Line; area: Area }) => {
  const query = { ...useMonth(), serverId: serverId ?? '' }
  if (!serverId) return <span class="muted">none</span>
  return (
    <>
      <Link class="mono" to={`${area}/usage/intervals`} query={query} title={serverId}>
        {shortId(serverId)}
      </Link>
      {billingServiceId && <small class="mono">{billingServiceId}</small>}
    </>
  )
}
