import { exportCustomers, listCustomers } from '../../../src/identity/customers/customers.ts'
import { exportResellerCustomers, listResellerCustomers } from '../../../src/identity/resellers/own.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Head } from '../../components/head.tsx'
import { Download, List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { AddCustomer, type SellingArea } from './add.tsx'
import { CustomerTable, customerSorts } from './table.tsx'

const exportsOf = { '/admin': exportCustomers, '/reseller': exportResellerCustomers } as const

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
function CustomerList({ customers, area }: ListProps) {
  const { query } = useAt()
  return (
    <>
      <Head
        title="Customers"
        actions={
          <>
            <Download op={exportsOf[area]} label="CSV" />
            <AddCustomer area={area} tone="pri" />
          </>
        }
      />
      <List
        of={customers}
        noun="customer"
        sorts={Object.values(customerSorts)}
        filters={[
          { name: 'q', label: 'Search customers', placeholder: 'Name, organization or e-mail' },
          { name: 'externalId', label: 'External id', placeholder: 'External id' },
          { name: 'locked', label: 'State', options: [['yes', 'Locked']] },
          { name: 'resellerId', label: 'Reseller', value: customers.data[0]?.resellerName ?? query['resellerId'] },
        ]}
        empty={<Empty title="No customers yet">A customer owns servers and signs in to manage them.</Empty>}
      >
        <CustomerTable customers={customers.data} area={area} sortable />
      </List>
    </>
  )
}
