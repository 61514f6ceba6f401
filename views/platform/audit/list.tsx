import { type At, page, reading } from '../../../src/kernel/web/page.ts'
import { listAudit } from '../../../src/platform/audit/audit.ts'
import { exportAuditCsv, exportAuditJson } from '../../../src/platform/audit/export.ts'
import { otherLines } from '../../../src/platform/audit/line.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import type { Filter } from '../../components/list.tsx'
import { Download, List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { instantsIn, ZoneName } from '../../components/time.tsx'
import { AuditTable } from './table.tsx'

export const auditPage = page({
  path: '/admin/audit',
  reads: { audit: reading(listAudit, (at) => ({ query: queryOf(at) })) },
  title: 'Audit log',
  nav: 'audit',
  view: ({ audit, at }) => (
    <>
      <Head
        title="Audit log"
        sub={
          <>
            <span>Every change, who made it and from where, and every refused sign-in.</span>
            <span>
              Time zone: <ZoneName />
            </span>
          </>
        }
        actions={<LogActions query={queryOf(at)} />}
      />
      <List
        of={audit}
        noun="entry"
        plural="entries"
        filters={filtersOf(at)}
        empty={<Empty>No entries yet.</Empty>}
        emptyWhenFiltered="No entries match these filters."
      >
        <AuditTable lines={audit.data} />
      </List>
    </>
  ),
})

const queryOf = (at: At) => instantsIn(at, ['since', 'until'])

const LogActions = ({ query }: { query: At['query'] }) => (
  <>
    <Download op={exportAuditCsv} label="CSV" query={query} />
    <Download op={exportAuditJson} label="JSON lines" query={query} />
    <Link class="btn" to="/admin/audit/verify">
      <Icon name="check" />
      Verify chain
    </Link>
  </>
)

function filtersOf({ registry }: At): readonly Filter[] {
  const operations = registry.allOperations
    .filter((o) => o.method !== 'GET')
    .map((o) => o.id)
    .concat(Object.keys(otherLines))
    .toSorted()
  return [
    { name: 'who', label: 'Who did it', placeholder: 'Who: name, email or usr_…' },
    { name: 'target', label: 'ID of what was changed', placeholder: 'Target: srv_…, usr_…' },
    { name: 'from', label: 'From address', placeholder: 'From address' },
    { name: 'operation', label: 'What', options: operations.map((id) => [id, id]) },
    {
      name: 'result',
      label: 'Result',
      options: [
        ['done', 'Done'],
        ['refused', 'Refused'],
      ],
    },
    { name: 'since', label: 'From', time: true },
    { name: 'until', label: 'to', time: true },
  ]
}
