// What every first page begins with: what needs attention, and what is still to be done once.
import { type Html, html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import type { Attention, Step } from '../../src/platform/overview/attention.ts'
import { card, empty, notice } from './card.ts'
import { time } from './time.ts'

/** The checklist stands between what needs attention and the news that nothing does. */
export const attentionAndChecklist = (
  {
    attention,
    checklist: all,
    checkedAt,
  }: { attention: readonly Attention[]; checklist: readonly Step[]; checkedAt: string },
  at: At,
  title: string,
): Html => {
  const checklist = all.filter((s) => at.leads(s.href))
  return html`
  ${attention.length > 0 && needsAttention(attention, checkedAt, at)}
  ${checklist.some((s) => !s.done) && steps(checklist, title)}
  ${attention.length === 0 && needsAttention(attention, checkedAt, at)}`
}

const needsAttention = (attention: readonly Attention[], checkedAt: string, at: At): Html =>
  card(
    { id: 'attention', title: 'Needs attention', count: attention.length || undefined },
    attention.length
      ? attention.map((a) =>
          notice(
            a.level,
            html`<strong>${a.what}</strong>${a.since && html` <span class="muted">Since ${time(a.since, at)}.</span>`}<br>${a.effect}`,
            a.href !== null && at.leads(a.href) && html`<a href="${a.href}">${a.action}</a>`,
          ),
        )
      : empty(html`Nothing needs attention. Checked ${time(checkedAt, at)}.`),
  )

function steps(checklist: readonly Step[], title: string): Html {
  const done = checklist.filter((s) => s.done).length
  const next = checklist.find((s) => !s.done)
  return card(
    { id: 'checklist', title, count: `${done} of ${checklist.length} done` },
    html`<ol role="list" class="todo">${checklist.map(
      (s) =>
        html`<li class="${s.done ? 'done' : ''}"><div><strong>${s.title}</strong>${s.done && html`<span class="sr"> (done)</span>`}<br><span class="muted">${s.words}</span></div>${!s.done && html`<a class="btn ${s === next ? 'pri' : ''}" href="${s.href}" aria-label="Set up: ${s.title}">Set up</a>`}</li>`,
    )}</ol>`,
  )
}
