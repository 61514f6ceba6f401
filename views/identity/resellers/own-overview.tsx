// A reseller's first page: its figures, what needs attention, and its quotas.
import { createResellerServer } from '../../../src/compute/servers/create.ts'
import { getResellerAccount, listResellerCustomers } from '../../../src/identity/resellers/own.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listAnnouncements } from '../../../src/platform/announcements/announcements.ts'
import { getOwnOverview } from '../../../src/platform/overview/own-overview.ts'
import { Stat, Stats } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { reachable } from '../../components/state.tsx'
import { Announcements } from '../../platform/announcements/banner.tsx'
import { Checklist, NeedsAttention } from '../../platform/overview/attention.tsx'
import { AddCustomer } from '../customers/add.tsx'
import { QuotaSection } from './own-terms.tsx'

const reads = {
  announcements: reading(listAnnouncements, () => ({})),
  overview: reading(getOwnOverview, () => ({})),
  account: reading(getResellerAccount, () => ({})),
  locked: reading(listResellerCustomers, () => ({ query: { locked: 'yes', limit: '1' } })),
}
type Data = Answers<typeof reads>

export const resellerOverviewPage = page({
  path: '/reseller',
  reads,
  title: 'Overview',
  nav: 'overview',
  view: (data) => (
    <>
      <Head title="Overview" actions={!data.account.suspendedAt && <Ordering />} />
      <Announcements of={data.announcements} />
      <Live id="overview" every={10}>
        <Figures {...data} />
        <div class="split plain">
          <div>
            <NeedsAttention of={data.overview.attention} checkedAt={data.overview.checkedAt} />
            <Checklist steps={data.overview.checklist} title="First steps" />
          </div>
          <div>
            <QuotaSection terms={data.account} />
          </div>
        </div>
      </Live>
    </>
  ),
})

const Ordering = () => (
  <>
    <AddCustomer area="/reseller" />
    {useAt().may(createResellerServer) && (
      <Link class="btn pri" to="/reseller/servers/new">
        <Icon name="plus" />
        Create server
      </Link>
    )}
  </>
)

const Figures = ({ account: { used }, overview, locked }: Data) => {
  const servers = reachable(overview.servers, overview.unreachable)
  return (
    <Stats>
      <Stat href="/reseller/customers" title="Customers" n={used.customers} />
      <Stat href="/reseller/customers?locked=yes" title="Customers locked" n={locked.total} />
      <Stat href="/reseller/servers" title="Servers" n={used.servers} />
      <Stat
        href="/reseller/servers?state=running"
        title="Servers running"
        n={servers['running'] ?? 0}
        words={servers['unreachable'] ? `${servers['unreachable']} unreachable` : undefined}
      />
      <Stat href="/reseller/servers?state=suspended" title="Servers suspended" n={servers['suspended'] ?? 0} />
      <Stat
        href="/reseller/servers?state=failed"
        title="Installations failed"
        n={servers['failed'] ?? 0}
        bad={!!servers['failed']}
      />
    </Stats>
  )
}
