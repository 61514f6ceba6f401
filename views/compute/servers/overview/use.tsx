// The newest use of a server as figures, each with its last hours, how full it is, and where it leads to.
import type { ComponentChildren } from 'preact'
import { wholeMonth } from '../../../../src/billing/usage/period.ts'
import type { Answers } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import type { getBandwidth } from '../../../../src/network/traffic/top-up.ts'
import type { SeriesName } from '../../../../src/platform/metrics/series.ts'
import type { getMetrics } from '../../../../src/platform/metrics/show.ts'
import { nameOfMonth } from '../../../billing/usage/month.tsx'
import type { Area } from '../../../components/area.ts'
import { FillBar, Spark, Stats } from '../../../components/figures.tsx'
import { Link } from '../../../components/link.tsx'
import { bytes, exactMb, traffic, usedTraffic } from '../../../components/words.ts'
import { awaySince, Stale } from '../../../fleet/nodes/stale.tsx'
import { inWords, type Unit } from '../../../platform/metrics/words.ts'
import type { Server } from '../words.ts'
import { type FileSystems, rootOf } from './disks.tsx'

/** The time that the lines show. */
export const USE_HOURS = 6

type Metrics = Answers<{ m: typeof getMetrics }>['m']
type Bandwidth = Answers<{ b: typeof getBandwidth }>['b']
type Values = readonly (number | null)[]
type UseProps = {
  fileSystems: FileSystems | undefined
  server: Server
  metrics: Metrics | undefined
  bandwidth: Bandwidth | undefined
  area: Area
}

/** Nothing before the first value has come, and for readers who may not see it. */
export function Use({ server: s, metrics, bandwidth, fileSystems, area }: UseProps) {
  if (!metrics?.series.cpuPercent.some((value) => value !== null)) return null
  const of = (name: SeriesName): Values => metrics.series[name]
  const href = `${area}/servers/${s.id}/metrics`
  const root = fileSystems && rootOf(fileSystems)
  const both = of('rxBytesPerSecond').map((rx, i) => sum(rx, of('txBytesPerSecond')[i] ?? null))
  const rate = (name: SeriesName) => inWords(newest(of(name)), 'bits')
  const memoryMb = newest(of('memoryMb'))
  return (
    <Stale since={awaySince(s)}>
      <Stats>
        <Figure href={href} title="CPU" values={of('cpuPercent')} unit="percent" of={`of ${s.vcpus} vCPU`} most={100}>
          <FillBar label="CPU" value={newest(of('cpuPercent')) ?? 0} total={100} mayBeFull />
        </Figure>
        {memoryMb !== undefined && (
          <Figure href={href} title="Memory" values={of('memoryMb')} unit="mebibytes" of={`of ${exactMb(s.memoryMb)}`}>
            <FillBar label="Memory" value={memoryMb} total={s.memoryMb} />
          </Figure>
        )}
        {root && <Disk of={root} href={href} />}
        <Figure
          href={href}
          title="Network"
          values={both}
          unit="bits"
          of=""
          words={`${rate('rxBytesPerSecond')} in, ${rate('txBytesPerSecond')} out`}
        />
        {bandwidth && <Traffic of={bandwidth} href={`${area}/servers/${s.id}/network`} />}
      </Stats>
    </Stale>
  )
}

const newest = (values: Values): number | undefined => values.findLast((one) => one !== null) ?? undefined
const sum = (a: number | null, b: number | null) => (a === null && b === null ? null : (a ?? 0) + (b ?? 0))

type FigureProps = {
  href: string
  title: string
  values: Values
  unit: Unit
  of: string
  words?: string
  most?: number
  children?: ComponentChildren
}
const Figure = ({ href, title, values, unit, of, words, most, children }: FigureProps) => (
  <Link href={href}>
    <span>{title}</span>
    <b>
      {inWords(newest(values), unit)}
      {of && <small> {of}</small>}
    </b>
    <Spark of={values} label={lineWords(title, values, unit)} most={most} />
    {children}
    {words && <span>{words}</span>}
  </Link>
)

/** The line in words, for those who do not see it. */
function lineWords(title: string, values: Values, unit: Unit): string {
  const known = values.filter((one) => one !== null)
  if (!known.length) return `${title}: no data`
  const [least, most] = [Math.min(...known), Math.max(...known)].map((value) => inWords(value, unit))
  return `${title} over ${USE_HOURS} hours, between ${least} and ${most}`
}

const Disk = ({ of: { usedBytes, totalBytes }, href }: { of: FileSystems['fileSystems'][number]; href: string }) => (
  <Link href={href}>
    <span>Disk</span>
    <b>
      {bytes(usedBytes)} <small>of {bytes(totalBytes)}</small>
    </b>
    <FillBar label="Disk" value={usedBytes} total={totalBytes} />
  </Link>
)

/** The month so far against what it may be, and what it would be at its end. */
function Traffic({ of: b, href }: { of: Bandwidth; href: string }) {
  const { now } = useAt()
  const { from, to } = wholeMonth(b.month)
  const passed = (now - from) / (to - from)
  const allowed = b.allowanceGb === null ? null : b.allowanceGb + b.addedGb
  const last = new Date(to - 1).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
  return (
    <Link href={href}>
      <span>Traffic in {nameOfMonth(b.month).split(' ')[0]}</span>
      <b>
        {usedTraffic(b.usedBytes)}
        {allowed !== null && <small> of {traffic(allowed)}</small>}
      </b>
      {allowed !== null && <FillBar label="Traffic" value={b.usedBytes / 1e9} total={allowed} fullFrom={1} />}
      {/* A day at least: of an hour, nothing can be foretold. */}
      {passed * (to - from) > 86_400_000 && b.usedBytes > 0 && (
        <span>{`about ${usedTraffic(b.usedBytes / passed)} by ${last}`}</span>
      )}
    </Link>
  )
}
