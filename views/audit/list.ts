import { listAudit } from '../../src/audit/audit.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { html } from '../../src/kernel/web/html.ts'
import { page } from '../../src/kernel/web/page.ts'
import { operations } from '../../src/operations.ts'
import { empty } from '../parts/card.ts'
import { head } from '../parts/head.ts'
import { icon } from '../parts/icon.ts'
import { filterChoice, filters, filterText, pager } from '../parts/table.ts'
import { count } from '../parts/words.ts'
import { auditTable } from './table.ts'

const changes = operations
  .filter((o) => o.method !== 'GET')
  .map((o) => [o.id, o.id] as const)
  .sort(([a], [b]) => (a < b ? -1 : 1))

export const auditPage = page({
  path: '/admin/audit',
  reads: { audit: listAudit },
  title: 'Audit log',
  nav: 'audit',
  view: ({ audit, at }) => html`
    ${head({ title: 'Audit log', sub: 'Every change, who made it and from where, and every refused sign-in.', actions: at.may(verifyAudit) && html`<a class="btn" href="/admin/audit/verify">${icon('check')}Verify chain</a>` })}
    <section class="card" aria-label="Audit log">
      ${filters(
        at,
        html`${filterText(at, 'target', 'Id of what was changed', 'Changed: srv_…, usr_…')}${filterText(at, 'actorId', 'Id of who did it', 'Done by: usr_…')}${filterText(at, 'from', 'From address', 'From address')}${filterChoice(at, 'operation', 'What', changes)}${filterChoice(
          at,
          'result',
          'Result',
          [
            ['done', 'Done'],
            ['sign_in_failed', 'Refused sign-in'],
          ],
        )}`,
        count(audit.total, 'entry', 'entries'),
      )}
      ${audit.data.length ? auditTable(audit.data, at) : empty('Nothing in the log fits these filters.', html`<a class="btn" href="${at.path}">Clear filters</a>`)}
      ${pager(at, audit)}
    </section>`,
})
