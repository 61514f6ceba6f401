// The last hour or day of a node as the controller heard of it, and the times when it was away.
import { MOST_ABSENCES } from '../../../src/fleet/nodes/nodes.ts'
import type { Query } from '../../../src/kernel/api/operation.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { getNodeMetrics } from '../../../src/platform/metrics/show.ts'
import { Section } from '../../components/section.tsx'
import { addressWith } from '../../components/table.tsx'
import { Clock, Exact, howLong } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import type { ShownNode } from './load.tsx'

type Metrics = Answers<{ m: typeof getNodeMetrics }>['m']
const MINUTE_MS = 60_000
const BAR = 10

/** The strip has so many bars of so many minutes each; the measurements say whether the node was heard. */
export const beatSpans = {
  hour: { bars: 60, minutes: 1, metrics: { range: '1h', resolution: '60' }, last: 'last hour', each: 'a minute' },
  day: { bars: 144, minutes: 10, metrics: { range: '24h', resolution: '300' }, last: 'last day', each: 'ten minutes' },
} as const
export type BeatSpan = keyof typeof beatSpans
export const beatSpanIn = (query: Query): BeatSpan => (query['beats'] === 'day' ? 'day' : 'hour')

type Beat = 'heard' | 'away' | 'unknown'
/**
 * The bars, the oldest first; `from` is the start of the first, in ms. A bar counts as away where any part of it does.
 * Neither an absence nor a measurement is known of an unknown one: the controller may have been off, or the node was
 * away so often that only its newest absences are known.
 */
export function heartbeatsOf(
  { absences }: Pick<ShownNode, 'absences'>,
  metrics: Metrics,
  now: number,
  span: BeatSpan = 'hour',
) {
  const { bars, minutes } = beatSpans[span]
  const eachMs = minutes * MINUTE_MS
  const from = Math.floor(now / eachMs) * eachMs - (bars - 1) * eachMs
  const step = metrics.resolutionSeconds * 1000
  const measured = new Set(
    metrics.series.cpuPercent.flatMap((value, i) =>
      value === null ? [] : [Math.floor((Date.parse(metrics.from) + i * step) / eachMs)],
    ),
  )
  const oldest = absences.length < MOST_ABSENCES ? undefined : absences.at(-1)
  const knownFrom = oldest ? Date.parse(oldest.from) : 0
  const isAway = (at: number) =>
    absences.some(
      (one) =>
        Date.parse(one.from) < at + eachMs &&
        (one.to === null || Date.parse(one.to) > at) &&
        Date.parse(one.from) <= now,
    )
  const beats = Array.from({ length: bars }, (_, i): Beat => {
    const at = from + i * eachMs
    // The measurements of the newest bars are on their way.
    const isHeard = i >= bars - 2 || measured.has(at / eachMs)
    return isAway(at) ? 'away' : isHeard && at >= knownFrom ? 'heard' : 'unknown'
  })
  return { from, beats }
}

const bars: Record<Beat, { class?: string; y: number }> = {
  heard: { y: 0 },
  away: { class: 'x', y: 30 },
  unknown: { class: 'u', y: 30 },
}

/** The last hour, or the last day. */
export function Heartbeats({ of: n, metrics }: { of: ShownNode; metrics: Metrics }) {
  const { now, query } = useAt()
  const span = beatSpanIn(query)
  const { last, each } = beatSpans[span]
  const { from, beats } = heartbeatsOf(n, metrics, now, span)
  const timeOf = (beat: Beat) => {
    const n = beats.filter((one) => one === beat).length
    return span === 'hour' ? count(n, 'minute') : `${n} of ${beats.length} bars`
  }
  const words = [
    beats.includes('away') ? `away in ${timeOf('away')}` : 'never away',
    beats.includes('unknown') && `nothing known of ${timeOf('unknown')}`,
  ].filter(Boolean)
  return (
    <Section
      id="heartbeats"
      title={`Heartbeats, ${last}`}
      count={`one bar ${each === 'a minute' ? each : `for ${each}`}`}
      actions={<SpanLink span={span} />}
    >
      <svg
        class="heartbeats"
        viewBox={`0 0 ${beats.length * BAR - 4} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`In the ${last}: ${words.join(', ')}`}
      >
        {beats.map((beat, i) => {
          const { class: look, y } = bars[beat]
          return <rect class={look} x={i * BAR} y={y} width={6} height={40 - y} rx={2} />
        })}
      </svg>
      <div class="bar muted">
        <small>
          <Clock iso={new Date(from).toISOString()} />
          {span === 'day' && ' yesterday'}
        </small>
        <span class="grow" />
        <small>
          {n.connected ? (
            words.join(', ')
          ) : (
            <>
              none since <Clock iso={n.seenAt} />
            </>
          )}
        </small>
      </div>
    </Section>
  )
}

function SpanLink({ span }: { span: BeatSpan }) {
  const at = useAt()
  return (
    <a class="btn s" href={addressWith(at, { beats: span === 'hour' ? 'day' : null })}>
      {span === 'hour' ? 'Show a day' : 'Show an hour'}
    </a>
  )
}

const MOST_SHOWN = 5
/** The last times without connection, with their times of day. */
export const Absences = ({ of: { absences } }: { of: ShownNode }) => {
  const { now } = useAt()
  return (
    <Section id="absences" title="Connection">
      {absences.length > 0 ? (
        <ul class="rows wrap">
          {absences.slice(0, MOST_SHOWN).map(({ from, to }) => (
            <li>
              <div class="grow">
                <b>
                  {to === null ? 'Away for' : 'Was away for'} {howLong(from, to, now)}
                </b>
                <small>
                  <Exact iso={from} />{' '}
                  {to === null ? (
                    'until now'
                  ) : (
                    <>
                      to <Clock iso={to} />
                    </>
                  )}
                </small>
              </div>
            </li>
          ))}
        </ul>
      ) : (
        <p class="muted">It has not been away since this is recorded.</p>
      )}
    </Section>
  )
}
