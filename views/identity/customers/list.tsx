import { listCustomers } from '../../../src/identity/accounts/customers.ts'
import { listResellerCustomers } from '../../../src/identity/resellers/own.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { FilterChoice, Filters, FilterText, KeptFilter, SomeOnly } from '../../components/filters.tsx'
import { Head } from '../../components/head.tsx'
import { Empty } from '../../components/section.tsx'
import { Pager } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { AddCustomer, type SellingArea } from './add.tsx'
import { CustomerTable } from './table.tsx'

export const customersPage = page({
  path: '/admin/customers',
  reads: { customers: listCustomers },
  title: 'Customers',
  nav: 'customers',
  view: ({ customers }) => <CustomerList customers={customers} area="/admin" />,
})

export const resellerCustomersPage = page({
  path: '/reseller/customers',
  reads: { customers: listResellerCustomers },
  title: 'Customers',
  nav: 'customers',
  view: ({ customers }) => <CustomerList customers={customers} area="/reseller" />,
})

type ListProps = Answers<{ customers: typeof listCustomers }> & { area: SellingArea }
const CustomerList = ({ customers, area }: ListProps) => (
  <>
    <Head
      title="Customers"
      actions={<AddCustomer area={area} tone="pri" />}
      sub={useAt().query['resellerId'] && <SomeOnly>Only customers of one reseller.</SomeOnly>}
    />
    <Filters count={count(customers.total, 'customer')}>
      <FilterText name="q" label="Search customers" placeholder="Name, organization or e-mail" />
      <FilterText name="externalId" label="External id" placeholder="External id" />
      <FilterChoice name="locked" label="State" options={[['yes', 'Locked']]} />
      <KeptFilter name="resellerId" />
    </Filters>
    {customers.data.length > 0 ? <CustomerTable customers={customers.data} area={area} /> : <NoCustomers />}
    <Pager of={customers} />
  </>
)

function NoCustomers() {
  const at = useAt()
  const clear = (
    <a class="btn" href={at.path}>
      Clear filters
    </a>
  )
  return Object.keys(at.query).length > 0 ? (
    <Empty action={clear}>No customer matches these filters.</Empty>
  ) : (
    <Empty>A customer owns servers and signs in to manage them.</Empty>
  )
}
