import { exportGpuUsage } from '../../../src/billing/usage/gpu/report.ts'
import { exportUsage, reportAccounts } from '../../../src/billing/usage/report.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Download, List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { Count, Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { HeldTime, heldWords } from './held.tsx'
import { Days, MonthTabs, useMonth } from './month.tsx'
import { Product } from './report-page.tsx'

type Area = '/admin' | '/reseller'
type Total = Answers<{ a: typeof reportAccounts }>['a']['data'][number]

const accountsPage = (area: Area) =>
  page({
    path: `${area}/reports`,
    reads: { accounts: reportAccounts },
    title: 'Usage',
    nav: 'reports',
    view: ({ accounts }) => (
      <>
        <Head
          title="Usage"
          actions={
            <>
              <Link to={`${area}/reports/reconciliation`} class="btn">
                Reconciliation
              </Link>
              <Download op={exportUsage} label="CSV, a line per server" />
              <Download op={exportGpuUsage} label="CSV of GPU instances" />
            </>
          }
          sub={<span>What each account had, by package and GPU offer. Months are in UTC.</span>}
        />
        <MonthTabs />
        <List
          of={accounts}
          noun="account"
          filters={[
            { name: 'ownerId', label: 'Account', value: accounts.data[0]?.account.name ?? 'one' },
            { name: 'resellerId', label: 'Reseller', value: 'one' },
          ]}
          empty={<Empty>No account had a server or a GPU instance in this month.</Empty>}
          emptyWhenFiltered="No account had a server or a GPU instance in this month."
        >
          <AccountTable accounts={accounts.data} area={area} />
        </List>
      </>
    ),
  })

export const adminReportsPage = accountsPage('/admin')
export const resellerReportsPage = accountsPage('/reseller')

const Packages = ({ of }: { of: Total['packages'] }) => (
  <>
    {of.map(({ name, billingProductId, seconds, servers }) => (
      <div>
        <Product of={{ name, billingProductId }} none="No package" /> · {count(servers, 'server')} ·{' '}
        <Days seconds={seconds} inText />
      </div>
    ))}
  </>
)

const Offers = ({ of }: { of: Total['gpuOffers'] }) => (
  <>
    {of.map(({ name, billingProductId, seconds, instances }) => (
      <div>
        <Product of={{ name, billingProductId }} none="No offer" />
        {` · ${count(instances, 'GPU instance')} · `}
        <HeldTime seconds={seconds} />
      </div>
    ))}
  </>
)

function AccountTable({ accounts, area }: { accounts: readonly Total[]; area: Area }) {
  const month = useMonth()
  return (
    <Table
      label="Usage by account"
      rows={accounts}
      idOf={({ account }) => account.id}
      stick
      flow
      columns={[
        {
          title: 'Account',
          kind: 'name',
          width: 24,
          cell: ({ account }) => (
            <>
              <Link to={`${area}/usage`} query={{ ...month, ownerId: account.id }}>
                {account.name}
              </Link>
              {account.externalId && <small class="mono">{account.externalId}</small>}
            </>
          ),
        },
        {
          title: 'Packages',
          cell: ({ packages, gpuOffers }) => (
            <>
              <Packages of={packages} />
              <Offers of={gpuOffers} />
            </>
          ),
        },
        { title: 'Servers', kind: 'a', num: true, width: 10, cell: (a) => <Count n={a.servers} of="server" /> },
        { title: 'Server-days', kind: 'b', num: true, width: 12, cell: (a) => <Days seconds={a.seconds} /> },
        {
          title: 'GPU time',
          kind: 'mid',
          num: true,
          width: 12,
          cell: (a) =>
            a.gpuInstances > 0 && (
              <Link to={`${area}/usage/gpu`} query={{ ...month, ownerId: a.account.id }}>
                {heldWords(a.gpuSeconds)}
              </Link>
            ),
        },
      ]}
    />
  )
}
