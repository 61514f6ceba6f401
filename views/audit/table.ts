import type { listAudit } from '../../src/audit/audit.ts'
import { type Html, html } from '../../src/kernel/web/html.ts'
import type { Answers, At } from '../../src/kernel/web/page.ts'
import { operations } from '../../src/operations.ts'
import { pill } from '../parts/state.ts'
import { table } from '../parts/table.ts'
import { time } from '../parts/time.ts'
import { shortId } from '../parts/words.ts'

type Line = Answers<{ audit: typeof listAudit }>['audit']['data'][number]

const places: Record<string, string> = {
  srv: '/admin/servers/',
  usr: '/admin/customers/',
  nod: '/admin/nodes/',
  job: '/admin/jobs/',
  pool: '/admin/ip-pools/',
}
export const targetLink = (id: string): Html => {
  const place = places[id.split('_')[0] ?? '']
  return place
    ? html`<a href="${place}${id}" title="${id}" class="mono">${id.split('_')[0]}_${shortId(id)}</a>`
    : html`<span class="mono" title="${id}">${id.split('_')[0]}_${shortId(id)}</span>`
}

/** The first words of an operation's summary: what follows explains, and the log needs no explanation. */
const summaries = new Map(operations.map((o) => [o.id, o.summary.split(/[;:]/)[0]]))

/** One operation may do several things; which one is in what was sent. */
const actionOf = ({ details }: Line) =>
  typeof details === 'object' && details !== null && 'action' in details ? ` ${String(details.action)}` : ''

const through = ({ via, actor }: Line) =>
  actor.id.startsWith('nod_') ? 'the node itself' : via === 'page' ? 'in the panel' : via.startsWith('token') ? 'by token' : 'on the host'

export const auditTable = (lines: readonly Line[], at: At, { target = true } = {}): Html =>
  table<Line>(
    'Audit log',
    lines,
    [
      {
        title: 'What',
        main: true,
        cell: (l) =>
          html`<strong>${summaries.get(l.operation) ?? l.operation}</strong><small class="mono">${l.operation}${actionOf(l)}</small>`,
      },
      { title: 'When', cell: (l) => time(l.at, at) },
      {
        title: 'Who',
        cell: (l) => html`${l.actor.name}<small>${through(l)}${l.from && html` · <span class="mono">${l.from}</span>`}</small>`,
      },
      ...(target ? [{ title: 'Target', cell: (l: Line) => (l.target ? targetLink(l.target) : '–') }] : []),
      { title: 'Result', cell: (l) => (l.result === 'done' ? pill('ok', 'tick', 'Done') : pill('bad', 'x', l.result)) },
      {
        title: 'Details',
        cell: (l) =>
          html`<details class="row" id="d-${l.id}"><summary>Show<span class="sr"> details of ${l.operation}</span></summary><pre>${l.details === null ? 'Nothing was sent with it.' : JSON.stringify(l.details, null, 2)}</pre><small>Request <code>${l.requestId}</code></small></details>`,
      },
    ],
    (l) => l.id,
  )
