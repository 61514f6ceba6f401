// Charts that public/metrics.js draws, and the same values as tables.
import type { ComponentChildren } from 'preact'
import type { At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { SeriesName } from '../../../src/platform/metrics/series.ts'
import { type RangeName, rangeNames, ranges } from '../../../src/platform/metrics/show.ts'
import { MomentFilter } from '../../components/list.tsx'
import { addressWith } from '../../components/table.tsx'
import { Exact, instantsIn, Time } from '../../components/time.tsx'
import { inWords, type Unit } from './words.ts'

type Values<Name extends string> = { series: Record<Name, (number | null)[]> }
/** The part of an answer with metrics that charts read: those of the thing itself, or of its cards. */
type Measured = { from: string; resolutionSeconds: number } & Partial<Values<string>> & {
    cards?: readonly Values<string>[]
  }
/** Those of a server or of a node. */
type Metrics = Measured & Values<SeriesName> & { memoryMb: number }
/** The files of a page with charts. */
export const chartFiles = ['metrics.css', 'uplot.js', 'metrics.js']

const words: Record<RangeName, string> = { '1h': '1 h', '24h': '24 h', '7d': '7 d', '30d': '30 d', '1y': '1 year' }
const USUAL: RangeName = '24h'
type Span = { range: RangeName } | { from: string; to?: string }
/** The time that the address asks for, as the operations take it: a period until now, or from a moment to another. */
export function spanIn(at: At): Span {
  const { from, to, range } = instantsIn(at, ['from', 'to'])
  return from ? { from, ...(to && { to }) } : { range: rangeNames.find((name) => name === range) ?? USUAL }
}
/** The moments between which that lies, in ms. */
export function momentsIn(at: At): { from: number; to: number } {
  const span = spanIn(at)
  if ('range' in span) return { from: at.now - ranges[span.range].ms, to: at.now }
  return { from: Date.parse(span.from), to: span.to ? Date.parse(span.to) : at.now }
}
/** How often the browser asks for new values, in seconds; undefined where none can come. */
export function everyOf(at: At): number | undefined {
  const span = spanIn(at)
  return 'range' in span && span.range === '1h' ? 10 : momentsIn(at).to < at.now ? undefined : 60
}
/** The period whose form times are drawn in. */
function likeIn(at: At): RangeName {
  const [span, { from, to }] = [spanIn(at), momentsIn(at)]
  return 'range' in span ? span.range : to - from <= 2 * ranges['24h'].ms ? '24h' : '30d'
}

/** `card`: of this one of the cards. */
type Line = { name: string; label: string; card?: number }
export type Chart = { id: string; title: string; unit: Unit; lines: readonly Line[]; most?: number; words?: string }
const valuesIn = (metrics: Measured, { name, card }: Line): readonly (number | null)[] =>
  (card === undefined ? metrics : metrics.cards?.[card])?.series?.[name] ?? []

/** Links to the periods of time. */
export function Periods() {
  const at = useAt()
  const span = spanIn(at)
  const chosen = 'range' in span ? span.range : undefined
  const every = everyOf(at)
  return (
    <div class="tools">
      <h2 class="sr">Metrics</h2>
      <nav class="bar" aria-label="Period">
        {rangeNames.map((name) => (
          <a
            class={`chip${name === chosen ? ' on' : ''}`}
            href={addressWith(at, { range: name, from: null, to: null })}
            aria-current={name === chosen ? 'page' : undefined}
          >
            {words[name]}
          </a>
        ))}
      </nav>
      <form class="bar" action={at.path} data-span="">
        <MomentFilter name="from" label="From" />
        <MomentFilter name="to" label="to" />
        <button class="btn s">Show</button>
      </form>
      <span class="grow" />
      <span class="muted">
        {every && `New values every ${every === 10 ? '10 seconds' : 'minute'}. `}Grey: nothing was measured.
      </span>
    </div>
  )
}

const chartsOf = ({ memoryMb }: Metrics, memoryWords?: string): readonly Chart[] => [
  {
    id: 'memory',
    title: 'Memory',
    unit: 'mebibytes',
    most: memoryMb,
    lines: [{ name: 'memoryMb', label: 'In use' }],
    ...(memoryWords && { words: memoryWords }),
  },
  {
    id: 'disk',
    title: 'Disk',
    unit: 'bytes',
    lines: [
      { name: 'diskReadBytesPerSecond', label: 'Read' },
      { name: 'diskWrittenBytesPerSecond', label: 'Write' },
    ],
  },
  {
    id: 'network',
    title: 'Network',
    unit: 'bits',
    lines: [
      { name: 'rxBytesPerSecond', label: 'In' },
      { name: 'txBytesPerSecond', label: 'Out' },
    ],
  },
]
/** A step of 10 s is measured once: it has no peak of its own. */
const cpuOf = ({ resolutionSeconds }: Metrics): Chart => ({
  id: 'cpu',
  title: 'CPU',
  unit: 'percent',
  most: 100,
  lines: [
    { name: 'cpuPercent', label: 'Average' },
    ...(resolutionSeconds < 60 ? [] : [{ name: 'cpuPeakPercent', label: 'Highest' } as const]),
  ],
})

/** Around the charts of a page; `address` answers new values. */
export function ChartFrame({ address, children }: { address: string; children: ComponentChildren }) {
  const at = useAt()
  return (
    <div
      class="sec first stack"
      data-metrics={`${address}?${new URLSearchParams(spanIn(at))}`}
      data-range={likeIn(at)}
      data-every={everyOf(at)}
    >
      <span class="colours" aria-hidden="true">
        {['1', '2', 'line', 'ink', 'gap', 'fill'].map((name) => (
          <i class={`c-${name}`} />
        ))}
      </span>
      {children}
    </div>
  )
}

type ChartsProps = { metrics: Metrics; address: string; memoryWords?: string; children?: ComponentChildren }
/** The charts of a server or a node; `address` answers new values. `children` stand behind them. */
export const Charts = ({ metrics, address, memoryWords, children }: ChartsProps) => (
  <ChartFrame address={address}>
    <Figure of={cpuOf(metrics)} metrics={metrics} />
    <div class="cols">
      {chartsOf(metrics, memoryWords).map((chart) => (
        <Figure of={chart} metrics={metrics} small />
      ))}
      {children}
    </div>
  </ChartFrame>
)

/** So long after the last step the newest value counts as the current one. */
const CURRENT_MS = 120_000
/** When its newest value was measured, if that is over; the same as in public/metrics.js. */
function endedAt({ from, resolutionSeconds: step, ...metrics }: Measured, line: Line, now: number): string | undefined {
  const last = valuesIn({ from, resolutionSeconds: step, ...metrics }, line).findLastIndex((value) => value !== null)
  const at = Date.parse(from) + (last + 1) * step * 1000
  return last >= 0 && now - at > step * 1000 + CURRENT_MS ? new Date(at).toISOString() : undefined
}

const there = (values: readonly (number | null)[]) => values.filter((value) => value !== null)

type FigureProps = { of: Chart; metrics: Measured; small?: boolean }
/** One chart inside a `ChartFrame`. */
export function Figure({ of, metrics, small }: FigureProps) {
  const at = useAt()
  const span = spanIn(at)
  const period = 'range' in span ? words[span.range] : 'the chosen time'
  const ended = endedAt(metrics, of.lines[0]!, at.now)
  const measured = there(valuesIn(metrics, of.lines[0]!))
  const summary = measured.length
    ? `highest ${inWords(Math.max(...there(valuesIn(metrics, of.lines.at(-1)!))), of.unit)}`
    : 'nothing measured yet'
  return (
    <figure
      class={`panel chart${small ? ' s' : ''}${ended ? ' stale' : ''}`}
      aria-labelledby={`${of.id}-t`}
      data-series={JSON.stringify(of.lines)}
      data-unit={of.unit}
      data-most={of.most}
    >
      <header>
        <h2 id={`${of.id}-t`}>{of.title}</h2>
        <div class="acts">
          <span class="keys-of" data-when="">
            {ended ? (
              <>
                last value, <Time iso={ended} />
              </>
            ) : (
              measured.length > 0 && 'now'
            )}
          </span>
          {of.lines.map((line, i) => (
            <span class="keys-of">
              <i class={i ? 'two' : undefined} /> {line.label}{' '}
              <b data-value={line.name}>{last(metrics, line, of.unit)}</b>
            </span>
          ))}
        </div>
      </header>
      <div
        class="plot"
        role="img"
        tabIndex={0}
        aria-label={`${of.title} over ${period}: ${summary}. Arrow keys read values.`}
      />
      <p class="sr" role="status" />
      <details>
        <summary>Show as table</summary>
        <ValueTable of={of} metrics={metrics} />
      </details>
      {of.words && !measured.length && <p class="muted">{of.words}</p>}
    </figure>
  )
}

const last = (metrics: Measured, line: Line, unit: Unit) => inWords(there(valuesIn(metrics, line)).at(-1), unit)

/** Rows of a table: each is the mean of several values. public/metrics.js fills it again with new values. */
const ROWS = 48

function ValueTable({ of, metrics }: { of: Chart; metrics: Measured }) {
  const n = valuesIn(metrics, of.lines[0]!).length
  const per = Math.ceil(n / ROWS)
  const starts = Array.from({ length: Math.ceil(n / per) }, (_, i) => i * per).toReversed()
  const mean = (line: Line, at: number) => {
    const values = there(valuesIn(metrics, line).slice(at, at + per))
    return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null
  }
  return (
    <div class="values">
      <table>
        <caption class="sr">{of.title}</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            {of.lines.map(({ label }) => (
              <th scope="col">{label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {starts.map((at) => (
            <tr>
              <th scope="row">
                <Exact iso={new Date(Date.parse(metrics.from) + at * metrics.resolutionSeconds * 1000).toISOString()} />
              </th>
              {of.lines.map((line) => (
                <td>{inWords(mean(line, at), of.unit)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
