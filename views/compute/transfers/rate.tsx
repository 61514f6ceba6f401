// The rate of a copy through time, drawn by the server: the page is fetched again every second anyway.
import type { getProgress } from '../../../src/compute/transfers/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Section } from '../../components/section.tsx'
import { Clock } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'

type Rates = Answers<{ progress: typeof getProgress }>['progress']['rates']

const BYTES_PER_MBIT = 125_000
const HEIGHT = 100
const WIDTH = 100
const perSecond = (n: number) => `${bytes(n)}/s`

export function Rate({ rates, maxMbps }: { rates: Rates; maxMbps: number | null }) {
  const limit = maxMbps === null ? undefined : maxMbps * BYTES_PER_MBIT
  const values = rates.map(({ bytesPerSecond }) => bytesPerSecond)
  const top = Math.max(1, limit ?? 0, ...values) * 1.05
  const [first, last] = [rates[0]!, rates.at(-1)!]
  const [from, to] = [Date.parse(first.at), Date.parse(last.at)]
  const x = (at: string) => round((WIDTH * (Date.parse(at) - from)) / Math.max(1, to - from))
  const y = (value: number) => round(HEIGHT - (HEIGHT * value) / top)
  const line = rates.map(({ at, bytesPerSecond }) => `${x(at)} ${y(bytesPerSecond)}`).join(' ')
  const words = `${perSecond(Math.min(...values))} to ${perSecond(Math.max(...values))}`
  return (
    <Section id="rate" title="Rate">
      <div class="rate">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`Rate: ${words}`}>
          <path d={`M0 0H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} />
          {limit !== undefined && <path class="at" d={`M0 ${y(limit)}H${WIDTH}`} />}
          <path class="area" d={`M0 ${HEIGHT}L${line} ${WIDTH} ${HEIGHT}Z`} />
          <path class="line" d={`M${line}`} />
        </svg>
        <div class="y" aria-hidden="true">
          <span>{perSecond(top)}</span>
          <span>{perSecond(top / 2)}</span>
          <span>0</span>
        </div>
        <div class="x">
          <Clock iso={first.at} />
          <Clock iso={last.at} />
        </div>
      </div>
      {limit !== undefined && <p class="hint">Dashed: the limit of {maxMbps!.toLocaleString('en')} Mbit/s.</p>}
    </Section>
  )
}
const round = (n: number) => Math.round(n * 10) / 10
