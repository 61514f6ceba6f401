// The GPU instances of an owner, own and shared ones; those of a reseller's customers; and all of them for staff.

import { listAllInstances, listInstances } from '../../../src/compute/gpu-instances/list.ts'
import { pageOfList } from '../../../src/compute/gpu-instances/model.ts'
import { listOrderableOffers } from '../../../src/compute/gpu-instances/order/offers.ts'
import { type Answers, ifAllowed, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { Area } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { stateOptions } from '../../components/state.tsx'
import { ChosenOfMany, useManyTicks } from '../bulk-actions/bar.tsx'
import { manyInstances } from '../bulk-actions/ways.ts'
import { tickFiles } from '../servers/bulk.tsx'
import { linkedFilters } from '../workloads/cells.tsx'
import { elsewhere } from './area.ts'
import { InstanceTable, instanceSorts, type ListedInstances } from './table.tsx'
import { instanceStates } from './words.ts'

type Offers = Answers<{ o: typeof listOrderableOffers }>['o']

const listPage = (area: Area, list: typeof listAllInstances | typeof listInstances) =>
  page({
    path: pageOfList(area),
    ...(area === '' && { elsewhere }),
    reads: { instances: list, offers: ifAllowed(listOrderableOffers, () => ({ query: { limit: '1' } })) },
    title: 'GPU instances',
    nav: 'gpu-instances',
    files: tickFiles,
    view: (data) => <InstanceList {...data} area={area} />,
  })

export const instanceListPages = [
  listPage('', listInstances),
  listPage('/reseller', listInstances),
  listPage('/admin', listAllInstances),
]

type ListProps = { instances: ListedInstances; offers?: Offers | undefined; area: Area }
function InstanceList({ instances, offers, area }: ListProps) {
  const mayOrder = offers?.data.length ? offers.notOrderable === null : false
  const { query } = useAt()
  const first = instances.data[0]
  const ofStaff = useManyTicks(manyInstances)
  const tick = area === '/admin' ? ofStaff : undefined
  return (
    <>
      <Head
        title="GPU instances"
        actions={mayOrder && instances.total > 0 && <OrderLink area={area} />}
        sub={<span>Containers with whole GPUs of their own.</span>}
      />
      <List
        of={instances}
        noun="GPU instance"
        every={4}
        sorts={Object.values(instanceSorts)}
        filters={[
          { name: 'q', label: 'Search GPU instances', placeholder: 'Name, address or gpu_…' },
          {
            name: 'state',
            label: 'State',
            options: stateOptions(instanceStates).filter(([status]) => area === '/admin' || status !== 'deleted'),
          },
          { name: 'offerId', label: 'Offer', value: first?.offer.name ?? query['offerId'] },
          ...linkedFilters(first, query, 'Host'),
        ]}
        empty={<NoInstances area={area} mayOrder={mayOrder} />}
      >
        <InstanceTable instances={instances.data} area={area} tick={tick} sortable />
      </List>
      {tick && <ChosenOfMany of={manyInstances} rows={instances} />}
    </>
  )
}

const OrderLink = ({ area }: { area: Area }) => (
  <Link class="btn pri" href={`${pageOfList(area)}/new`}>
    <Icon name="plus" />
    Create GPU instance
  </Link>
)

export const NoInstances = ({ area, mayOrder = false }: { area: Area; mayOrder?: boolean }) => (
  <Empty title="No GPU instances yet" action={mayOrder && <OrderLink area={area} />}>
    {mayOrder
      ? 'Choose an offer and a template; it is ready to log in within minutes.'
      : area === ''
        ? 'Your provider orders GPU instances for you; they appear here automatically.'
        : 'Once there is a GPU offer, you and your billing system order instances of it for customers.'}
  </Empty>
)
