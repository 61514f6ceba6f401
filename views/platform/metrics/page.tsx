import { type Answers, ifAllowed, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { getBandwidth } from '../../../src/network/traffic/top-up.ts'
import { getMetrics } from '../../../src/platform/metrics/show.ts'
import { pathOf } from '../../components/action.tsx'
import { inEveryArea } from '../../components/area.ts'
import { Meter } from '../../components/figures.tsx'
import { Section } from '../../components/section.tsx'
import { traffic, usedTraffic } from '../../components/words.ts'
import { ServerFrame, serverReads } from '../../compute/servers/frame.tsx'
import { Charts, chartFiles, Periods, spanIn } from './charts.tsx'
import { Marks, marksRead } from './marks.tsx'

const reads = {
  ...serverReads,
  metrics: reading(getMetrics, (at) => ({ params: at.params, query: spanIn(at) })),
  bandwidth: ifAllowed(getBandwidth),
  timeline: marksRead,
}
type Data = Answers<typeof reads>

export const metricsPages = inEveryArea({
  path: '/servers/{id}/metrics',
  reads,
  title: ({ server }) => `Metrics of ${server.name}`,
  nav: 'servers',
  files: chartFiles,
  view: (data, area) => (
    <ServerFrame {...data} area={area}>
      <Periods />
      <Charts
        metrics={data.metrics}
        address={pathOf(getMetrics, { id: data.server.id })}
        memoryWords="Reported by the guest; a system without the balloon driver reports nothing."
      >
        {data.bandwidth && <TrafficOfMonth of={data.bandwidth} />}
      </Charts>
      <Marks of={data.timeline} />
    </ServerFrame>
  ),
})

const BYTES_PER_GIGABYTE = 1e9
function TrafficOfMonth({ of }: { of: NonNullable<Data['bandwidth']> }) {
  const { now } = useAt()
  const begins = Date.parse(`${of.month}-01T00:00:00Z`)
  const date = new Date(begins)
  const ends = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  const days = Math.max(1, Math.ceil((now - begins) / 86_400_000))
  const forecast = of.usedBytes / Math.max(0.01, (now - begins) / (ends - begins))
  const all = of.allowanceGb === null ? null : of.allowanceGb + of.addedGb
  const [used, soon] = [of.usedBytes, forecast].map(usedTraffic)
  return (
    <Section id="traffic" title="Traffic this month" panel>
      <div class="stack">
        {all === null ? (
          <p>
            <b>{used}</b> in {days === 1 ? 'one day' : `${days} days`}, without a limit. At this pace it is {soon} by
            the end of the month.
          </p>
        ) : (
          <>
            <Meter
              label={`Used so far, ${days === 1 ? '1 day' : `${days} days`}`}
              value={of.usedBytes}
              total={all * BYTES_PER_GIGABYTE}
              words={`${used} of ${traffic(all)}`}
            />
            <Meter
              label="At this pace by the end of the month"
              value={forecast}
              total={all * BYTES_PER_GIGABYTE}
              words={soon}
            />
          </>
        )}
      </div>
    </Section>
  )
}
