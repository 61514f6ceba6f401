// The GiB-hours of extra volumes in a month.
import { reportVolumes } from '../../../src/compute/volumes/usage.ts'
import { type LineOf, usageReportPages } from '../../billing/usage/report-page.tsx'
import { Link } from '../../components/link.tsx'
import { exactGb, shortId } from '../../components/words.ts'

type Line = LineOf<typeof reportVolumes.response>

export const volumeUsagePages = usageReportPages({
  path: '/usage/volumes',
  title: 'Usage by volume',
  op: reportVolumes,
  noun: 'volume',
  none: 'There was no volume in this month.',
  ofResellers: false,
  sub: (area) => (
    <>
      Every extra volume of the month, attached or not, also deleted ones. Months are in UTC. Servers are on{' '}
      <Link href={`${area}/usage`}>Usage by server</Link>, extra and floating addresses on{' '}
      <Link href={`${area}/usage/addresses`}>Usage by address</Link>.
    </>
  ),
  idOf: (l) => l.volumeId,
  columns: (area) => [
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
  ],
})
