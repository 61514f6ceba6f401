// The heaviest users of traffic, with a chart of all traffic or of that of one node.

import type { AssetName } from '../../../public/assets.ts'
import { pageOf } from '../../../src/compute/gpu-instances/model.ts'
import { minuteText } from '../../../src/kernel/db/clock.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { heaviestTraffic } from '../../../src/network/traffic/heaviest.ts'
import { nameOfMonth } from '../../billing/usage/month.tsx'
import { Amount, Stats } from '../../components/figures.tsx'
import { chooserFiles, filterChoices } from '../../components/forms/chooser.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Filters } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { type Column, Table, Tabs } from '../../components/table.tsx'
import { dayOf } from '../../components/time.tsx'
import { usedTraffic } from '../../components/words.ts'

const reads = { traffic: heaviestTraffic, nodes: filterChoices('node', 'nodeId') }
type Data = Answers<typeof reads>
type Traffic = Data['traffic']
type Row = Traffic['heaviest'][number]

export const trafficPage = page({
  path: '/admin/traffic',
  reads,
  title: 'Traffic',
  nav: 'traffic',
  files: ['moves.css', ...chooserFiles] satisfies AssetName[],
  view: (data) => <TrafficPage {...data} />,
})

/** `27 Nov 2026, 14:00`, `27 Nov 2026`, `November 2026`; all in UTC, as traffic is counted. */
const nameOf = ({ per, from }: Pick<Traffic, 'per' | 'from'>) =>
  per === 'month' ? nameOfMonth(from.slice(0, 7)) : per === 'hour' ? minuteText(Date.parse(from)) : dayOf(from)

function TrafficPage({ traffic, nodes }: Data) {
  const at = useAt()
  return (
    <>
      <Head
        title="Traffic"
        sub={<span>{traffic.node ? `Over ${traffic.node.name}` : 'Over all nodes'}, counted in UTC.</span>}
      />
      <Tabs
        label="Span"
        name="per"
        options={[
          ['hour', 'Hour'],
          ['', 'Day'],
          ['month', 'Month'],
        ]}
      />
      <Filters
        of={[
          nodes && nodes.data.length > 1
            ? { name: 'nodeId', label: 'Node', of: 'node', choices: nodes }
            : { name: 'nodeId', label: 'Node', value: traffic.node?.name },
          { name: 'at', label: 'At', time: true },
        ]}
      >
        {at.query['per'] && <input type="hidden" name="per" value={at.query['per']} />}
        <b role="status">{nameOf(traffic)}</b>
      </Filters>
      <Stats>
        <Amount title="In" value={usedTraffic(traffic.rxBytes)} />
        <Amount title="Out" value={usedTraffic(traffic.txBytes)} />
        <Amount title="Servers with traffic" value={traffic.workloads.toLocaleString('en')} />
      </Stats>
      <Chart of={traffic} />
      <Section id="heaviest" title="Heaviest users" flush>
        {traffic.heaviest.length ? (
          <Table label="Heaviest users" rows={traffic.heaviest} columns={columns} idOf={({ id }) => id} />
        ) : (
          <Empty>No traffic was reported for this time.</Empty>
        )}
      </Section>
    </>
  )
}

const WIDTH = 720
const HEIGHT = 160
/** Bars of the series; the values of each are its title, and stand in a table for who does not see them. */
function Chart({ of }: { of: Traffic }) {
  const most = Math.max(1, ...of.series.map(({ rxBytes, txBytes }) => rxBytes + txBytes))
  const step = WIDTH / of.series.length
  const per = of.per === 'hour' ? 'hour' : 'day'
  return (
    <Section id="chart" title={per === 'hour' ? 'By hour' : 'By day'}>
      <svg class="bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" preserveAspectRatio="none">
        {of.series.map(({ from, rxBytes, txBytes }, i) => {
          const all = ((rxBytes + txBytes) / most) * (HEIGHT - 4)
          const out = (txBytes / most) * (HEIGHT - 4)
          const place = { x: i * step + step * 0.1, width: step * 0.8 }
          return (
            <g>
              <title>{`${nameOf({ per, from })}: in ${usedTraffic(rxBytes)}, out ${usedTraffic(txBytes)}`}</title>
              <rect class="in" {...place} y={HEIGHT - all} height={Math.max(0, all - out)} />
              <rect class="out" {...place} y={HEIGHT - out} height={out} />
            </g>
          )
        })}
      </svg>
      <details>
        <summary>As a table</summary>
        <Table
          label="Traffic over time"
          rows={of.series}
          columns={[
            { title: 'From', kind: 'name', width: 40, cell: ({ from }) => nameOf({ per, from }) },
            { title: 'In', kind: 'a', num: true, width: 30, cell: ({ rxBytes }) => usedTraffic(rxBytes) },
            { title: 'Out', kind: 'b', num: true, width: 30, cell: ({ txBytes }) => usedTraffic(txBytes) },
          ]}
        />
      </details>
    </Section>
  )
}

const columns: readonly Column<Row>[] = [
  {
    title: 'Server',
    kind: 'name',
    width: 24,
    cell: ({ id, kind, name, owner }) => (
      <>
        <Link href={kind === 'server' ? `/admin/servers/${id}` : pageOf('/admin', id)}>{name}</Link>
        <small class="per">{owner.name}</small>
      </>
    ),
  },
  {
    title: 'Share',
    kind: 'state',
    num: true,
    width: 12,
    cell: ({ percent }) => `${percent} %`,
  },
  {
    title: 'In',
    kind: 'a',
    num: true,
    width: 14,
    cell: ({ rxBytes }) => (
      <>
        <span class="per">In </span>
        {usedTraffic(rxBytes)}
      </>
    ),
  },
  {
    title: 'Out',
    kind: 'b',
    num: true,
    width: 14,
    cell: ({ txBytes }) => (
      <>
        <span class="per">Out </span>
        {usedTraffic(txBytes)}
      </>
    ),
  },
  {
    title: 'Owner',
    kind: 'mid',
    width: 20,
    cell: ({ owner }) => <Link href={`/admin/customers/${owner.id}`}>{owner.name}</Link>,
  },
  {
    title: 'Node',
    kind: 'mid',
    width: 16,
    cell: ({ node }) => (node ? <Link href={`/admin/nodes/${node.id}`}>{node.name}</Link> : '–'),
  },
]
