// Shares of a whole: one bar, then shape, word and number of each.
import type { IconName } from '../../components/icon.tsx'
import { State, type Tone } from '../../components/state.tsx'

export type Share = { name: string; n: number; tone: Tone; shape: IconName }

export const Mix = ({ shares }: { shares: readonly Share[] }) => {
  let at = 0
  return (
    <>
      <svg
        class="mix"
        viewBox={`0 0 ${Math.max(
          1,
          shares.reduce((sum, { n }) => sum + n, 0),
        )} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label={shares.map(({ name, n }) => `${n} ${name.toLowerCase()}`).join(', ') || 'no servers'}
      >
        {shares.map(({ n, tone }) => {
          const x = at
          at += n
          return <rect class={tone} x={x} y={0} width={n} height={10} />
        })}
      </svg>
      <div class="legend">
        {shares.map(({ name, n, tone, shape }) => (
          <span>
            <State tone={tone} shape={shape}>
              {name}
            </State>
            <b>{n.toLocaleString('en')}</b>
          </span>
        ))}
      </div>
    </>
  )
}
