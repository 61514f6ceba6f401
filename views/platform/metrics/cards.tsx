// The use of cards over time, of an instance or of a host: a row of charts for each card.

import type { Answers } from '../../../src/kernel/web/page.ts'
import type { getInstanceMetrics, getNodeCardMetrics } from '../../../src/platform/metrics/cards/show.ts'
import { Meter } from '../../components/figures.tsx'
import { Empty } from '../../components/section.tsx'
import { mb } from '../../components/words.ts'
import { Stale } from '../../fleet/nodes/stale.tsx'
import { type Chart, ChartFrame, Figure } from './charts.tsx'

type Metrics = Pick<
  Answers<{ m: typeof getInstanceMetrics; n: typeof getNodeCardMetrics }>['m'],
  'from' | 'resolutionSeconds' | 'cards'
>
type Card = Metrics['cards'][number]

/** `H100 80 GB, card 1`; the number tells cards of one model apart. */
const nameOf = ({ model }: Card, place: number) => `${model}, card ${place}`

const chartsOf = (card: Card, place: number): readonly [Chart, ...Chart[]] => {
  const line = (name: string, label: string) => ({ name, label, card: place })
  const named = nameOf(card, place)
  return [
    {
      id: `busy-${place}`,
      title: `Busy: ${named}`,
      unit: 'percent',
      most: 100,
      lines: [line('busyPercent', 'Average')],
    },
    {
      id: `card-memory-${place}`,
      title: 'Memory',
      unit: 'mebibytes',
      most: card.memoryMb,
      lines: [line('memoryMb', 'In use')],
    },
    { id: `heat-${place}`, title: 'Temperature', unit: 'celsius', lines: [line('temperatureC', 'Card')] },
    { id: `watts-${place}`, title: 'Power', unit: 'watts', lines: [line('powerW', 'Drawn')] },
  ]
}

type CardChartsProps = { metrics: Metrics; address: string; none: string }
/** The charts of all cards; `address` answers new values, and `none` stands there where there is no card. */
export const CardCharts = ({ metrics, address, none }: CardChartsProps) => (
  <ChartFrame address={address}>
    {!metrics.cards.length && <Empty>{none}</Empty>}
    {metrics.cards.map((card, place) => {
      const [busy, ...others] = chartsOf(card, place)
      return (
        <>
          <Figure of={busy} metrics={metrics} />
          <div class="cols">
            {others.map((chart) => (
              <Figure of={chart} metrics={metrics} small />
            ))}
          </div>
        </>
      )
    })}
  </ChartFrame>
)

/** Each card as it is now: busy, memory and temperature. `since`: its host is away since then. */
export const CardPanels = ({ cards, since }: { cards: readonly Card[]; since: string | undefined }) => (
  <Stale since={since}>
    <div class="cols s">
      {cards.map((card, place) => (
        <section class="panel" aria-label={nameOf(card, place)}>
          <header>
            <h3>
              {card.model} <span class="muted">card {place}</span>
            </h3>
            {card.temperatureC !== null && (
              <div class="acts">
                <span class="muted">{card.temperatureC} °C</span>
              </div>
            )}
          </header>
          {card.busyPercent === null ? (
            <p class="muted">{`${mb(card.memoryMb)}, not measured now.`}</p>
          ) : (
            <div class="stack">
              <Meter label="Busy" value={card.busyPercent} total={100} words={`${card.busyPercent} %`} mayBeFull />
              <Meter
                label="Memory"
                value={card.memoryUsedMb ?? 0}
                total={card.memoryMb}
                words={`${mb(card.memoryUsedMb ?? 0)} of ${mb(card.memoryMb)}`}
              />
            </div>
          )}
        </section>
      ))}
    </div>
  </Stale>
)
