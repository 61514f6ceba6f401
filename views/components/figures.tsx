import type { ComponentChildren } from 'preact'
import type { IconName } from './icon.tsx'
import { Link } from './link.tsx'
import { State, type Tone } from './state.tsx'

/** From this share on something is too full; the mark on a meter stands there. */
const FILL_LIMIT = 0.85
const NEARLY_FULL = 0.95

type MeterProps = {
  label: string
  /** Of `total`, in the same unit. */
  value: number
  total: number
  /** How full it is, in words. */
  words: ComponentChildren
  /** The label is read aloud only, e.g. in a table whose column says it. */
  inline?: boolean
  /** On hover, where the words leave something out. */
  title?: string
  /** Being full is no trouble, such as of a processor at work. */
  mayBeFull?: boolean
  /** The share from which on it counts as full; without it, 95 %. */
  fullFrom?: number
}

/**
 * How full something is. Amber from the fill limit, red when it is nearly full; the words say it without the colour.
 */
export function Meter({ label, value, total, words, inline, title, mayBeFull, fullFrom = NEARLY_FULL }: MeterProps) {
  const share = total > 0 ? Math.min(1, value / total) : 0
  return (
    <div class={`meter${mayBeFull ? '' : ' line'}${inline ? ' one' : ''}`} title={title}>
      {!inline && <span>{label}</span>}
      <b class="num">{words}</b>
      <meter
        aria-label={label}
        min={0}
        max={1}
        {...(!mayBeFull && { low: FILL_LIMIT, high: fullFrom, optimum: 0 })}
        value={Number(share.toFixed(3))}
      >
        {`${Math.round(share * 100)} %`}
      </meter>
    </div>
  )
}

/** Figures in a strip. */
export const Stats = ({ children }: { children: ComponentChildren }) => <div class="stats">{children}</div>

type FigureProps = { title: string; n: number | string; of?: string; words?: ComponentChildren; bad?: boolean }
/** One figure that leads nowhere. */
export const Figure = ({ title, n, of, words, bad }: FigureProps) => (
  <div>
    <span>{title}</span>
    <b class={bad ? 'bad' : undefined}>
      {typeof n === 'number' ? n.toLocaleString('en') : n}
      {of && <small> {of}</small>}
    </b>
    {words && <span>{words}</span>}
  </div>
)

type StatProps = {
  href: string
  title: string
  n: number
  of?: string | undefined
  words?: ComponentChildren
  bad?: boolean
}
/** One figure; it leads to the list of what it counts. */
export const Stat = ({ href, title, n, of, words, bad }: StatProps) => (
  <Link href={href}>
    <span>{title}</span>
    <b class={bad ? 'bad' : undefined}>
      {n.toLocaleString('en')}
      {of && <small> {of}</small>}
    </b>
    {words && <span>{words}</span>}
  </Link>
)

type AmountProps = { title: string; value: ComponentChildren; of?: ComponentChildren; words?: ComponentChildren }
/** One figure that leads nowhere; `of`: its unit, or the whole that it is a part of. */
export const Amount = ({ title, value, of, words }: AmountProps) => (
  <div>
    <span>{title}</span>
    <b>
      {value}
      {of && <small> {of}</small>}
    </b>
    {words && <span>{words}</span>}
  </div>
)

export type Share = { name: string; n: number; tone: Tone; shape: IconName }

type MixProps = { shares: readonly Share[]; none?: string }
/** Shares of a whole: one bar, then shape, word and number of each (moves.css). `none`: read where there is none. */
export const Mix = ({ shares, none = 'no servers' }: MixProps) => {
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
        aria-label={shares.map(({ name, n }) => `${n} ${name.toLowerCase()}`).join(', ') || none}
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
