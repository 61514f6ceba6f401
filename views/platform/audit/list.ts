import type { Operation } from '../../../src/kernel/api/operation.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type At, page } from '../../../src/kernel/web/page.ts'
import { listAudit } from '../../../src/platform/audit/audit.ts'
import { exportAuditCsv, exportAuditJson } from '../../../src/platform/audit/export.ts'
import { otherLines } from '../../../src/platform/audit/line.ts'
import { count } from '../../components/words.ts'
import { pathOf } from '../../html/act.ts'
import { empty } from '../../html/card.ts'
import { head } from '../../html/head.ts'
import { icon } from '../../html/icon.ts'
import { filterChoice, filters, filterText, pager } from '../../html/table.ts'
import { auditTable } from './table.ts'

const changes = ({ registry }: At) =>
  registry.allOperations
    .filter((o) => o.method !== 'GET')
    .map((o) => o.id)
    .concat(Object.keys(otherLines))
    .map((id) => [id, id] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))

/** The same lines as the page shows, as a file. */
const file = (at: At, op: Operation, label: string) => {
  const { cursor: _, limit: __, ...asked } = at.query
  const query = new URLSearchParams(asked).toString()
  return html`<a class="btn" href="${pathOf(op, {})}${query && `?${query}`}" download>${label}</a>`
}

const moment = (at: At, name: string, label: string): Html =>
  html`<label class="bar">${label}<input name="${name}" value="${at.query[name] ?? ''}" type="datetime-local" autocomplete="off"></label>`

export const auditPage = page({
  path: '/admin/audit',
  reads: { audit: listAudit },
  title: 'Audit log',
  nav: 'audit',
  view: ({ audit, at }) => html`
    ${head({
      title: 'Audit log',
      sub: 'Every change, who made it and from where, and every refused sign-in.',
      actions: html`${file(at, exportAuditCsv, 'CSV')}${file(at, exportAuditJson, 'JSON lines')}<a class="btn" href="/admin/audit/verify">${icon('check')}Verify chain</a>`,
    })}
    <section class="sec" aria-label="Audit log">
      ${filters(
        at,
        html`${filterText(at, 'who', 'Who did it', 'Who: name, e-mail or usr_…')}${filterChoice(at, 'operation', 'What', changes(at))}${filterText(at, 'target', 'Id of what was changed', 'Changed: srv_…, usr_…')}${filterText(at, 'from', 'From address', 'From address')}${filterChoice(
          at,
          'result',
          'Result',
          [
            ['done', 'Done'],
            ['refused', 'Refused'],
          ],
        )}${moment(at, 'since', 'From (UTC)')}${moment(at, 'until', 'to (UTC)')}`,
        count(audit.total, 'entry', 'entries'),
      )}
      ${audit.data.length ? auditTable(audit.data, at) : empty('Nothing in the log matches these filters.', html`<a class="btn" href="${at.path}">Clear filters</a>`)}
      ${pager(at, audit)}
    </section>`,
})
