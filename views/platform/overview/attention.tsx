// The top of every overview: rows that need attention, and the set-up steps that are not finished.

import type { Attention, Step } from '../../../src/kernel/attention.ts'
import type { At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'

/** The list of what needs attention; without entries it says so, and when that was checked. */
export const NeedsAttention = ({ of, checkedAt }: { of: readonly Attention[]; checkedAt: string }) => (
  <Section id="attention" title="Needs attention" count={of.length || undefined} flush>
    {of.length > 0 ? (
      <ul class="rows wrap">
        {of.map((a) => (
          <AttentionRow of={a} />
        ))}
      </ul>
    ) : (
      <p class="muted">
        Nothing needs attention. Checked <Time iso={checkedAt} />.
      </p>
    )}
  </Section>
)

const AttentionRow = ({ of: a }: { of: Attention }) => (
  <li class={a.level === 'warn' ? undefined : 'soft bad'}>
    <Icon name={a.level === 'down' ? 'unplug' : 'warning'} class={a.level === 'warn' ? 'warn' : 'bad'} />
    <div class="grow">
      <b>{a.what}</b>
      <small>
        {a.effect}
        {a.since && (
          <>
            {' · '}
            <Time iso={a.since} />
          </>
        )}
      </small>
    </div>
    {a.href !== null && (
      <Link class="btn s" href={a.href}>
        {a.action}
      </Link>
    )}
  </li>
)

/** How much of a list is done, as a ring. */
const Ring = ({ done, of }: { done: number; of: number }) => (
  <svg class="ring" viewBox="0 0 18 18" aria-hidden="true">
    <circle cx="9" cy="9" r="7" />
    <circle cx="9" cy="9" r="7" pathLength={of} stroke-dasharray={`${done} ${of}`} />
  </svg>
)

/** The steps that this reader can take; undefined when all are done. */
function openSteps(at: At, steps: readonly Step[]) {
  const own = steps.filter((s) => at.leads(s.href))
  const done = own.filter((s) => s.done).length
  const next = own.find((s) => !s.done)
  return next && { own, done, next, mostDone: done * 2 >= own.length }
}

type ChecklistProps = {
  steps: readonly Step[]
  title: string
}
/**
 * Steps to take once, folded when most are done. Steps that the reader cannot take are left out; finished, it is
 * nothing.
 */
export function Checklist({ steps, title }: ChecklistProps) {
  const open = openSteps(useAt(), steps)
  if (!open) return null
  const { own, done, next, mostDone } = open
  return (
    <details class="fold" id="checklist" open={!mostDone}>
      <summary>
        <Ring done={done} of={own.length} />
        <h2>{title}</h2>
        <span class="muted">{`${done} of ${own.length} done · next: ${next.title}`}</span>
        <Icon name="chevron-down" />
      </summary>
      <ol class="rows sec" id="checklist-steps">
        {own.map((s) => (
          <ChecklistStep of={s} next={s === next} />
        ))}
      </ol>
    </details>
  )
}

/** In the header of a page whose list is folded: leads to the list, which browsers then unfold. */
export function ChecklistChip({ steps, title }: ChecklistProps) {
  const open = openSteps(useAt(), steps)
  if (!open?.mostDone) return null
  return (
    <a class="chip" href="#checklist-steps">
      <Ring done={open.done} of={open.own.length} />
      {`${title} ${open.done} of ${open.own.length} · Continue`}
    </a>
  )
}

const ChecklistStep = ({ of: s, next }: { of: Step; next: boolean }) => (
  <li>
    <Icon name={s.done ? 'check' : 'chevron-right'} class={s.done ? 'ok' : 'muted'} />
    <div class="grow">
      <b>{s.title}</b>
      {s.done && <span class="sr"> (done)</span>}
      <small>{s.words}</small>
    </div>
    {!s.done && (
      <Link class={next ? 'btn s pri' : 'btn s'} href={s.href} aria-label={`Set up: ${s.title}`}>
        Set up
      </Link>
    )}
  </li>
)
