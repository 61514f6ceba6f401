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
export const Meter = ({ words, inline, title, ...fill }: MeterProps) => (
  <div class={`meter${fill.mayBeFull ? '' : ' line'}${inline ? ' one' : ''}`} title={title}>
    {!inline && <span>{fill.label}</span>}
    <b class="num">{words}</b>
    <Fill {...fill} />
  </div>
)

/** The bar of a meter alone, for a figure that says its words above. */
export const FillBar = ({
  label,
  value,
  total,
  mayBeFull,
  fullFrom,
}: Omit<MeterProps, 'words' | 'inline' | 'title'>) => (
  <span class={`meter${mayBeFull ? '' : ' line'}`}>
    <Fill label={label} value={value} total={total} {...(mayBeFull && { mayBeFull })} {...(fullFrom && { fullFrom })} />
  </span>
)

function Fill({ label, value, total, mayBeFull, fullFrom = NEARLY_FULL }: Omit<MeterProps, 'words'>) {
  const share = total > 0 ? Math.min(1, value / total) : 0
  return (
    <meter
      aria-label={label}
      min={0}
      max={1}
      {...(!mayBeFull && { low: FILL_LIMIT, high: fullFrom, optimum: 0 })}
      value={Number(share.toFixed(3))}
    >
      {`${Math.round(share * 100)} %`}
    </meter>
  )
}

const SPARK = { width: 100, height: 26, points: 60, edge: 2 }
type SparkProps = { of: readonly (number | null)[]; label: string; most?: number | undefined }
/**
 * A small line of values over time; gaps are gaps. `most`: the value at its top, where the highest of them is not.
 */
export function Spark({ of: values, label, most }: SparkProps) {
  const step = Math.max(1, Math.ceil(values.length / SPARK.points))
  const means: (number | null)[] = []
  for (let at = 0; at < values.length; at += step) {
    const known = values.slice(at, at + step).filter((one) => one !== null)
    means.push(known.length ? known.reduce((a, b) => a + b, 0) / known.length : null)
  }
  const top = most ?? Math.max(0, ...means.map((one) => one ?? 0))
  const span = SPARK.height - 2 * SPARK.edge
  let isOpen = false
  const path = means.map((value, i) => {
    if (value === null) {
      isOpen = false
      return ''
    }
    const x = means.length > 1 ? (i / (means.length - 1)) * SPARK.width : 0
    const y = SPARK.edge + span * (1 - (top > 0 ? Math.min(1, value / top) : 0))
    const point = `${isOpen ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`
    isOpen = true
    return point
  })
  return (
    <svg
      class="spark"
      width="100%"
      fill="none"
      stroke-width="1.75"
      viewBox={`0 0 ${SPARK.width} ${SPARK.height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={path.join('')} vector-effect="non-scaling-stroke" />
    </svg>
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
