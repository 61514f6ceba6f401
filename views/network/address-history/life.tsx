// The life of one address as a line: held, resting or free.

import { useAt } from '../../../src/kernel/web/page-context.ts'
import { dayOf } from '../../components/time.tsx'
import { type Holding, momentOf } from './history.tsx'

const WIDTH = 800

/** Newest first. The moment that somebody asks for is marked. */
export function Life({ holdings }: { holdings: readonly Holding[] }) {
  const { now, query } = useAt()
  const at = momentOf(query)
  const oldest = holdings.at(-1)
  if (!oldest) return null
  const from = Date.parse(oldest.from)
  const ends = holdings.flatMap(({ restedUntil }) => (restedUntil ? [Date.parse(restedUntil)] : []))
  const to = Math.max(now, from + 1, ...ends)
  const x = (time: number) => Math.round(((time - from) / (to - from)) * WIDTH * 10) / 10
  const bar = (begin: number, end: number) => ({ x: x(begin), width: Math.max(2, x(end) - x(begin)) })
  const asked = at === undefined ? undefined : Date.parse(at)
  const held = holdings.length === 1 ? 'one holding' : `${holdings.length} holdings`
  return (
    <div class="stack">
      <svg
        class="life"
        viewBox={`0 0 ${WIDTH} 44`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${held} since ${dayOf(from)}; the table has each of them`}
      >
        <path class="base" d={`M0 22H${WIDTH}`} />
        {holdings.toReversed().map((h, i) => {
          const end = h.to === null ? now : Date.parse(h.to)
          return (
            <>
              <rect class={i % 2 ? 'held b' : 'held'} {...bar(Date.parse(h.from), end)} y="10" height="24" rx="3" />
              {h.restedUntil && (
                <rect class="rest" {...bar(end, Date.parse(h.restedUntil))} y="16" height="12" rx="2" />
              )}
            </>
          )
        })}
        {asked !== undefined && asked >= from && asked <= to && <path class="at" d={`M${x(asked)} 2V42`} />}
      </svg>
      <div class="dates">
        <span>{dayOf(from)}</span>
        <span>{to > now ? dayOf(to) : 'today'}</span>
      </div>
    </div>
  )
}
