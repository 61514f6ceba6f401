import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { getPanelHost } from '../../../src/platform/host/panel-host.ts'
import { Meter } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Live } from '../../components/live.tsx'
import { Facts, Section } from '../../components/section.tsx'
import { span, Time } from '../../components/time.tsx'
import { bytes, count } from '../../components/words.ts'

type Host = Answers<{ h: typeof getPanelHost }>['h']

export const controllerPage = page({
  path: '/admin/controller',
  reads: { host: getPanelHost },
  title: 'Controller host',
  nav: 'controller',
  view: ({ host }) => (
    <>
      <Head title="Controller host" sub={<span>The machine that Berth itself runs on.</span>} />
      <Live id="host" every={10}>
        <div class="split even">
          <Use host={host} />
          <Details host={host} />
        </div>
      </Live>
    </>
  ),
})

const used = ({ usedBytes, totalBytes }: { usedBytes: number; totalBytes: number }) =>
  `${bytes(usedBytes)} of ${bytes(totalBytes)}`

const Use = ({ host: h }: { host: Host }) => (
  <Section id="use" title="Usage">
    <div class="stack">
      <Meter label="CPU" value={h.cpuPercent} total={100} words={`${h.cpuPercent} % of ${count(h.cpus, 'CPU')}`} />
      <Meter label="Memory" value={h.memory.percent} total={100} words={`${used(h.memory)}, ${h.memory.percent} %`} />
      {h.swap.totalBytes > 0 && (
        <Meter label="Swap" value={h.swap.usedBytes} total={h.swap.totalBytes} words={used(h.swap)} />
      )}
      <Meter
        label="Disk holding the database"
        value={h.disk.percent}
        total={100}
        words={`${used(h.disk)}, ${h.disk.percent} %`}
      />
      <p class="muted">
        <small>
          Checked <Time iso={h.checkedAt} />, and again every 10 seconds.
        </small>
      </p>
    </div>
  </Section>
)

const Details = ({ host: h }: { host: Host }) => (
  <Section id="details" title="Details">
    <Facts
      of={[
        ['Load', `${[h.load1, h.load5, h.load15].map((n) => n.toFixed(2)).join(' · ')} over 1, 5 and 15 min`],
        ['Memory available', bytes(h.memory.availableBytes)],
        ['Swap', h.swap.totalBytes === 0 && 'None'],
        [
          'Database',
          <>
            {bytes(h.databaseBytes)} in <code>{h.disk.path}</code>
          </>,
        ],
        ['Host uptime', span(h.hostUptimeSeconds * 1000)],
        ['Berth started', <Time iso={h.startedAt} />],
        ['Memory of Berth', bytes(h.processMemoryBytes)],
        ['Version', h.version],
      ]}
    />
  </Section>
)
