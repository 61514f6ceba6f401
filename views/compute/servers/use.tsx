// The newest use of a server as figures; each leads to its charts.

import type { Answers } from '../../../src/kernel/web/page.ts'
import type { getBandwidth } from '../../../src/network/traffic/top-up.ts'
import type { getMetrics } from '../../../src/platform/metrics/show.ts'
import { nameOfMonth } from '../../billing/usage/month.tsx'
import type { Area } from '../../components/area.ts'
import { Stats } from '../../components/figures.tsx'
import { Link } from '../../components/link.tsx'
import { exactMb, traffic, usedTraffic } from '../../components/words.ts'
import { awaySince, Stale } from '../../fleet/nodes/stale.tsx'
import { inWords, type Unit } from '../../platform/metrics/words.ts'
import type { Server } from './words.ts'

type Metrics = Answers<{ m: typeof getMetrics }>['m']
type Bandwidth = Answers<{ b: typeof getBandwidth }>['b']
type UseProps = { server: Server; metrics: Metrics | undefined; bandwidth: Bandwidth | undefined; area: Area }

/** Nothing before the first value of the last hour has come, and for readers who may not see it. */
export function Use({ server: s, metrics, bandwidth: b, area }: UseProps) {
  const newest = (name: keyof Metrics['series'], unit: Unit): string | undefined => {
    const value = metrics?.series[name].findLast((one) => one !== null)
    return value === undefined ? undefined : inWords(value, unit)
  }
  const cpu = newest('cpuPercent', 'percent')
  if (cpu === undefined) return null
  const memory = newest('memoryMb', 'mebibytes')
  const href = `${area}/servers/${s.id}/metrics`
  return (
    <Stale since={awaySince(s)}>
      <Stats>
        <Figure href={href} title="CPU" value={cpu} of={`of ${s.vcpus} vCPU`} />
        {memory && <Figure href={href} title="Memory" value={memory} of={`of ${exactMb(s.memoryMb)}`} />}
        <Figure
          href={href}
          title="Network"
          value={newest('rxBytesPerSecond', 'bits') ?? 'no data'}
          of="in"
          words={`${newest('txBytesPerSecond', 'bits') ?? 'no data'} out`}
        />
        {b && (
          <Figure
            href={href}
            title={`Traffic in ${nameOfMonth(b.month)}`}
            value={usedTraffic(b.usedBytes)}
            of={b.allowanceGb === null ? '' : `of ${traffic(b.allowanceGb + b.addedGb)}`}
          />
        )}
      </Stats>
    </Stale>
  )
}

type FigureProps = { href: string; title: string; value: string; of: string; words?: string }
const Figure = ({ href, title, value, of, words }: FigureProps) => (
  <Link href={href}>
    <span>{title}</span>
    <b>
      {value}
      {of && <small> {of}</small>}
    </b>
    {words && <span>{words}</span>}
  </Link>
)
