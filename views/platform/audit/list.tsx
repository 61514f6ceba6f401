import type { Operation } from '../../../src/kernel/api/operation.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listAudit } from '../../../src/platform/audit/audit.ts'
import { exportAuditCsv, exportAuditJson } from '../../../src/platform/audit/export.ts'
import { otherLines } from '../../../src/platform/audit/line.ts'
import { pathOf } from '../../components/action.tsx'
import { FilterChoice, Filters, FilterText } from '../../components/filters.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Empty } from '../../components/section.tsx'
import { Pager } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { AuditTable } from './table.tsx'

export const auditPage = page({
  path: '/admin/audit',
  reads: { audit: listAudit },
  title: 'Audit log',
  nav: 'audit',
  view: ({ audit, at }) => (
    <>
      <Head
        title="Audit log"
        sub={<span>Every change, who made it and from where, and every refused sign-in.</span>}
        actions={<LogActions />}
      />
      <LogFilters total={audit.total} />
      {audit.data.length ? (
        <AuditTable lines={audit.data} />
      ) : (
        <Empty
          action={
            <a class="btn" href={at.path}>
              Clear filters
            </a>
          }
        >
          No entries match these filters.
        </Empty>
      )}
      <Pager of={audit} />
    </>
  ),
})

const LogActions = () => (
  <>
    <Download op={exportAuditCsv} label="CSV" />
    <Download op={exportAuditJson} label="JSON lines" />
    <Link class="btn" to="/admin/audit/verify">
      <Icon name="check" />
      Verify chain
    </Link>
  </>
)

/** The same lines as the page shows, as a file. */
function Download({ op, label }: { op: Operation; label: string }) {
  const { cursor: _, limit: __, ...filters } = useAt().query
  const query = new URLSearchParams(filters).toString()
  return (
    <a class="btn" href={pathOf(op, {}) + (query && `?${query}`)} download>
      {label}
    </a>
  )
}

function LogFilters({ total }: { total: number }) {
  const { registry } = useAt()
  const operations = registry.allOperations
    .filter((o) => o.method !== 'GET')
    .map((o) => o.id)
    .concat(Object.keys(otherLines))
    .toSorted()
  return (
    <Filters count={count(total, 'entry', 'entries')}>
      <FilterText name="who" label="Who did it" placeholder="Who: name, email or usr_…" />
      <FilterText name="target" label="ID of what was changed" placeholder="Target: srv_…, usr_…" />
      <FilterText name="from" label="From address" placeholder="From address" />
      <FilterChoice name="operation" label="What" options={operations.map((id) => [id, id])} />
      <FilterChoice
        name="result"
        label="Result"
        options={[
          ['done', 'Done'],
          ['refused', 'Refused'],
        ]}
      />
      <FilterTime name="since" label="From (UTC)" />
      <FilterTime name="until" label="to (UTC)" />
    </Filters>
  )
}

const FilterTime = ({ name, label }: { name: string; label: string }) => (
  <label class="bar">
    {label}
    <input name={name} value={useAt().query[name] ?? ''} type="datetime-local" autocomplete="off" />
  </label>
)
