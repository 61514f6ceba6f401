import { listGroups } from '../../../src/compute/placement-groups/groups.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { AddGroup, type Group, policyWords } from './words.tsx'

export const placementGroupsPages = inEveryArea({
  path: '/placement-groups',
  reads: { groups: listGroups },
  title: 'Placement groups',
  nav: 'placement-groups',
  view: ({ groups, at }, area) => (
    <>
      <Head
        title="Placement groups"
        actions={area !== '/admin' && <AddGroup ownerId={at.actor.accountId} tone="pri" />}
        sub={<span>Servers that stay apart, so that one failure does not hit them all, or together.</span>}
      />
      <List
        of={groups}
        noun="placement group"
        empty={
          <Empty title="No placement groups yet">
            {area === '/admin'
              ? 'Customers and resellers add them. You add one for a customer on the page of the customer.'
              : 'Add one, then put servers into it or choose it in an order.'}
          </Empty>
        }
      >
        <Table label="Placement groups" rows={groups.data} columns={columnsFor(area)} idOf={(g) => g.id} />
      </List>
    </>
  ),
})

const columnsFor = (area: Area): Column<Group>[] => [
  {
    title: 'Name',
    kind: 'name',
    width: 24,
    cell: (g) => <Link href={`${area}/placement-groups/${g.id}`}>{g.name}</Link>,
  },
  {
    title: 'Rule',
    kind: 'mid',
    width: 30,
    cell: ({ policy, hard }) => (
      <>
        {policyWords[policy]}
        <small>{hard ? 'Always' : 'Where possible'}</small>
      </>
    ),
  },
  { title: 'Servers', kind: 'a', num: true, width: 10, cell: (g) => g.members.length },
  { title: 'State', kind: 'state', width: 20, cell: (g) => <GroupState of={g} /> },
  ...(area === '' ? [] : [{ title: 'Owner', kind: 'b', width: 16, cell: (g: Group) => g.owner.name } as const]),
]

export const GroupState = ({ of: { violation, hard }, tag }: { of: Group; tag?: boolean }) =>
  violation === null ? (
    <State shape="tick" tone="ok" tag={tag}>
      Kept
    </State>
  ) : (
    <State shape="fail" tone={hard ? 'bad' : 'warn'} tag={tag}>
      Not kept
    </State>
  )
