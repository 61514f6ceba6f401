import { targetsOf } from '../../../src/kernel/audit/target.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers, At } from '../../../src/kernel/web/page.ts'
import type { listActivity } from '../../../src/platform/audit/activity.ts'
import type { listAudit } from '../../../src/platform/audit/audit.ts'
import { otherLines } from '../../../src/platform/audit/line.ts'
import { areaOf } from '../../components/area.ts'
import { shortId } from '../../components/words.ts'
import { pill } from '../../html/state.ts'
import { table } from '../../html/table.ts'
import { exact, moment } from '../../html/time.ts'

type Line = Answers<{ audit: typeof listAudit }>['audit']['data'][number]

type Target = Pick<Line, 'target' | 'targetName' | 'targetKind' | 'targetGone'>

/** The page that this reader has of what a line is about; undefined where there is none, or none any more. */
const pageOf = ({ registry, actor }: At, { target, targetKind, targetGone }: Target): string | undefined =>
  target === null
    ? undefined
    : targetsOf(registry)
        .find(({ prefix }) => target.startsWith(`${prefix}_`))
        ?.page?.({ id: target, kind: targetKind, isGone: targetGone }, actor)

export function targetLink(at: At, line: Target): Html {
  const { target, targetName } = line
  if (target === null) return html`–`
  const place = pageOf(at, line)
  const words = targetName ?? `${target.split('_')[0]}_${shortId(target)}`
  return place
    ? html`<a href="${place}" title="${target}"${!targetName && html` class="mono"`}>${words}</a>`
    : html`<span title="${target}"${!targetName && html` class="mono"`}>${words}</span>`
}

/** The first words of an operation's summary: what follows explains, and the log needs no explanation. */
const summaryOf = ({ registry }: At, id: string): string | undefined =>
  registry.operation(id)?.summary.split(/[;:]/)[0] ?? (otherLines as Readonly<Record<string, string>>)[id]

/** Which of several things an operation did. */
const actionOf = ({ details }: Line) =>
  typeof details === 'object' && details !== null && 'action' in details ? String(details.action) : null

const ways = {
  page: 'in the panel',
  token: 'by token',
  support: 'in a support session',
  system: 'on the host',
  node: 'the node itself',
} as const
const through = ({ type, name }: Line['via']) => html`${ways[type]}${name && html` ${name}`}`

/** As people read it: nothing is a dash, lists are lists, times are times. */
const worded = (value: unknown, at: At): Html =>
  value === null || value === ''
    ? html`<span class="muted">nothing</span>`
    : typeof value === 'object'
      ? html`<code>${JSON.stringify(value)}</code>`
      : /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value))
        ? exact(String(value), at)
        : html`${String(value)}`

const changesOf = (changes: Line['changes'], at: At): Html =>
  html`<ul class="will">${changes.map((c) => html`<li><code>${c.field}</code>: ${worded(c.before, at)} → ${worded(c.after, at)}</li>`)}</ul>`

const whole = (l: Line, at: At): Html =>
  html`<details class="row" id="d-${l.id}"><summary>Show<span class="sr"> details of ${l.operation}</span></summary>${l.changes.length > 0 && changesOf(l.changes, at)}${
    l.details === null
      ? html`<p class="muted">Nothing was sent with it.</p>`
      : html`<p class="muted">Sent:</p><pre>${JSON.stringify(l.details, null, 2)}</pre>`
  }<small>Request <code>${l.requestId}</code></small></details>`

const result = (text: string): Html =>
  text === 'done' ? pill('ok', 'tick', 'Done') : pill('bad', 'fail', text === 'sign_in_failed' ? 'Refused' : text)
/** What an operation does, in words; of those that do several things, the one that was done. */
export const wordsOf = (at: At, operation: string, action: string | null): string =>
  (action && at.registry.operation(operation)?.actionWords?.[action]) ?? summaryOf(at, operation) ?? operation
const what = (operation: string, action: string | null, jobId: string | null, at: At): Html =>
  html`<strong>${wordsOf(at, operation, action)}</strong><small><span class="mono">${operation}${action && ` ${action}`}</span>${jobId && html` · <a href="${areaOf(at)}/jobs/${jobId}">Job</a>`}</small>`

type Done = Answers<{ activity: typeof listActivity }>['activity']['data'][number]

/** What somebody may know of what was done to what is theirs. */
export const activityTable = (lines: readonly Done[], at: At, { target = true } = {}): Html =>
  table<Done>(
    'Activity',
    lines,
    [
      { title: 'What', main: true, cell: (l) => what(l.operation, l.action, l.jobId, at) },
      { title: 'When', cell: (l) => moment(l.at, at) },
      {
        title: 'Who',
        cell: (l) =>
          html`${l.who.you ? 'You' : l.who.name}<small>${l.who.name !== 'System' && through(l.via)}${l.from && html` · <span class="mono">${l.from}</span>`}</small>`,
      },
      ...(target ? [{ title: 'Target', cell: (l: Done) => targetLink(at, l) }] : []),
      { title: 'Result', cell: (l) => result(l.result) },
    ],
    (l) => l.id,
  )

export const auditTable = (lines: readonly Line[], at: At, { target = true } = {}): Html =>
  table<Line>(
    'Audit log',
    lines,
    [
      {
        title: 'What',
        main: true,
        cell: (l) => what(l.operation, actionOf(l), l.jobId, at),
      },
      { title: 'When', cell: (l) => moment(l.at, at) },
      {
        title: 'Who',
        cell: (l) =>
          html`${l.actor.name}<small>${through(l.via)}${l.from && html` · <span class="mono">${l.from}</span>`}</small>`,
      },
      ...(target ? [{ title: 'Target', cell: (l: Line) => targetLink(at, l) }] : []),
      { title: 'Result', cell: (l) => result(l.result) },
      {
        title: 'Details',
        cell: (l) => whole(l, at),
      },
    ],
    (l) => l.id,
  )
