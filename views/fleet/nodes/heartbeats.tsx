// The last hour of a node as the controller heard of it, and the times when it was away.
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { getNodeMetrics } from '../../../src/platform/metrics/show.ts'
import { Section } from '../../components/section.tsx'
import { Clock, Exact, howLong } from '../../components/time.tsx'
import { count } from '../../components/words.ts'
import type { ShownNode } from './load.tsx'

type Metrics = Answers<{ m: typeof getNodeMetrics }>['m']
const MINUTE_MS = 60_000
const MINUTES = 60
const BAR = 10

type Minute = 'heard' | 'away' | 'unknown'
/**
 * Each of the last 60 minutes, the oldest first; `from` is the start of the first, in ms. A minute counts as away where
 * any part of it does. Neither an absence nor a measurement is known of an unknown one: the controller may have been
 * off.
 */
export function heartbeatsOf({ absences }: Pick<ShownNode, 'absences'>, metrics: Metrics, now: number) {
  const from = Math.floor(now / MINUTE_MS) * MINUTE_MS - (MINUTES - 1) * MINUTE_MS
  const step = metrics.resolutionSeconds * 1000
  const measured = new Set(
    metrics.series.cpuPercent.flatMap((value, i) =>
      value === null ? [] : [Math.floor((Date.parse(metrics.from) + i * step) / MINUTE_MS)],
    ),
  )
  const isAway = (at: number) =>
    absences.some(
      (one) =>
        Date.parse(one.from) < at + MINUTE_MS &&
        (one.to === null || Date.parse(one.to) > at) &&
        Date.parse(one.from) <= now,
    )
  const minutes = Array.from({ length: MINUTES }, (_, i): Minute => {
    const at = from + i * MINUTE_MS
    // The measurements of the newest minutes are on their way.
    const isNew = i >= MINUTES - 2
    return isAway(at) ? 'away' : isNew || measured.has(at / MINUTE_MS) ? 'heard' : 'unknown'
  })
  return { from, minutes }
}

const bars: Record<Minute, { class?: string; y: number }> = {
  heard: { y: 0 },
  away: { class: 'x', y: 30 },
  unknown: { class: 'u', y: 30 },
}

/** One bar a minute. */
export function Heartbeats({ of: n, metrics }: { of: ShownNode; metrics: Metrics }) {
  const { now } = useAt()
  const { from, minutes } = heartbeatsOf(n, metrics, now)
  const away = minutes.filter((minute) => minute === 'away').length
  const unknown = minutes.filter((minute) => minute === 'unknown').length
  const words = [
    away > 0 ? `away in ${count(away, 'minute')}` : 'never away',
    unknown > 0 && `nothing known of ${count(unknown, 'minute')}`,
  ].filter(Boolean)
  return (
    <Section id="heartbeats" title="Heartbeats, last hour" count="one bar a minute">
      <svg
        class="heartbeats"
        viewBox={`0 0 ${MINUTES * BAR - 4} 40`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`In the last hour: ${words.join(', ')}`}
      >
        {minutes.map((minute, i) => {
          const { class: look, y } = bars[minute]
          return <rect class={look} x={i * BAR} y={y} width={6} height={40 - y} rx={2} />
        })}
      </svg>
      <div class="bar muted">
        <small>
          <Clock iso={new Date(from).toISOString()} />
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
