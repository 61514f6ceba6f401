// The GiB-hours of extra volumes in a month.
import { reportVolumes } from '../../../src/compute/volumes/usage.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { MonthTabs } from '../../billing/usage/month.tsx'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { exactGb, shortId } from '../../components/words.ts'

type Line = Answers<{ l: typeof reportVolumes }>['l']['data'][number]

export const volumeUsagePages = inEveryArea({
  path: '/usage/volumes',
  reads: { lines: reportVolumes },
  title: 'Usage by volume',
  nav: 'reports',
  view: ({ lines }, area) => (
    <>
      <Head
        title="Usage by volume"
        sub={
          <span>
            Every extra volume of the month, attached or not, also deleted ones. Months are in UTC. Servers are on{' '}
            <Link href={`${area}/usage`}>Usage by server</Link>, extra and floating addresses on{' '}
            <Link href={`${area}/usage/addresses`}>Usage by address</Link>.
          </span>
        }
      />
      <MonthTabs />
      <List
        of={lines}
        noun="volume"
        filters={[{ name: 'ownerId', label: 'Account', value: lines.data[0]?.owner.name ?? 'one' }]}
        empty={<Empty>There was no volume in this month.</Empty>}
        emptyWhenFiltered="There was no volume in this month."
      >
        <Table label="Usage by volume" rows={lines.data} columns={columnsFor(area)} idOf={(l) => l.volumeId} />
      </List>
    </>
  ),
})

const columnsFor = (area: Area): Column<Line>[] => [
  {
    title: 'Volume',
    kind: 'name',
    width: 34,
    cell: (l) => (
      <>
        {l.name}
        <small class="mono" title={l.volumeId}>
          {shortId(l.volumeId)}
        </small>
      </>
    ),
  },
  ...(area === '' ? [] : [{ title: 'Owner', kind: 'a', width: 24, cell: (l: Line) => l.owner.name } as const]),
  {
    title: 'Size',
    kind: 'mid',
    width: 20,
    cell: (l) => `${exactGb(l.sizeGb)}${l.storageClass ? ` ${l.storageClass}` : ''}`,
  },
  {
    title: 'GiB-hours',
    kind: 'mid',
    width: 22,
    cell: (l) => l.gbHours.toLocaleString('en', { maximumFractionDigits: 1 }),
  },
]
