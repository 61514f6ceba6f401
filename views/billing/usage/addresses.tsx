// The extra and floating addresses of a month.
import { exportAddresses, reportAddresses } from '../../../src/billing/usage/addresses/report.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Download, List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { shortId } from '../../components/words.ts'
import { Days, MonthTabs, useMonth } from './month.tsx'

type Line = Answers<{ l: typeof reportAddresses }>['l']['data'][number]

export const addressUsagePages = inEveryArea({
  path: '/usage/addresses',
  reads: { lines: reportAddresses },
  title: 'Usage by address',
  nav: 'reports',
  view: ({ lines }, area) => (
    <>
      <Head
        title="Usage by address"
        actions={<Download op={exportAddresses} label="CSV" />}
        sub={
          <span>
            Every extra and floating address of the month, including released ones. Primary addresses belong to their
            server. Months are in UTC. Servers are on <Link href={`${area}/usage`}>Usage by server</Link>.
          </span>
        }
      />
      <MonthTabs />
      <List
        of={lines}
        noun="address"
        plural="addresses"
        filters={[
          { name: 'ownerId', label: 'Account', value: lines.data[0]?.owner.name ?? 'one' },
          { name: 'resellerId', label: 'Reseller', value: 'one' },
        ]}
        empty={<Empty>There was no extra or floating address in this month.</Empty>}
        emptyWhenFiltered="There was no extra or floating address in this month."
      >
        <Table
          label="Usage by address"
          rows={lines.data}
          columns={columnsFor(area)}
          idOf={(l) => `${l.addressId}-${l.floatingIpId ?? l.serverId}-${l.owner.id}`}
        />
      </List>
    </>
  ),
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

const columnsFor = (area: Area): Column<Line>[] => [
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
]
