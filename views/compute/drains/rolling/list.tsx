// Maintenance of several nodes one after another: the list, and the way to a new one.
import { listRollings, startRolling } from '../../../../src/compute/drains/rolling/rolling.ts'
import { page } from '../../../../src/kernel/web/page.ts'
import { useAt } from '../../../../src/kernel/web/page-context.ts'
import { Head } from '../../../components/head.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Link } from '../../../components/link.tsx'
import { List } from '../../../components/list.tsx'
import { Empty } from '../../../components/section.tsx'
import { type Column, Table } from '../../../components/table.tsx'
import { Time } from '../../../components/time.tsx'
import { type Rolling, RollingState, titleOf } from './words.tsx'

export const rollingListPage = page({
  path: '/admin/rolling-maintenance',
  reads: { rollings: listRollings },
  title: 'Rolling maintenance',
  nav: 'nodes',
  view: ({ rollings }) => (
    <>
      <Head
        title="Rolling maintenance"
        trail={[['Nodes', '/admin/nodes']]}
        sub={<span>Several nodes are emptied, worked on and opened again, one after another</span>}
        actions={<New />}
      />
      <List
        of={rollings}
        noun="maintenance"
        plural="maintenances"
        every={4}
        empty={
          <Empty title="No rolling maintenance yet" action={<New />}>
            Choose nodes and their order: each is emptied, waits until its work is done, and is opened again. The first
            one that fails stops it.
          </Empty>
        }
      >
        <Table label="Rolling maintenance" rows={rollings.data} columns={columns} idOf={({ id }) => id} />
      </List>
    </>
  ),
})

const New = () =>
  useAt().may(startRolling) ? (
    <Link class="btn pri" to="/admin/rolling-maintenance/new">
      <Icon name="plus" />
      Plan maintenance
    </Link>
  ) : null

const columns: readonly Column<Rolling>[] = [
  {
    title: 'Nodes',
    kind: 'name',
    width: 36,
    cell: (one) => (
      <>
        <Link to="/admin/rolling-maintenance/{id}" params={{ id: one.id }}>
          {titleOf(one)}
        </Link>
        <small>{one.nodes.map(({ name }) => name).join(', ')}</small>
      </>
    ),
  },
  { title: 'State', kind: 'state', width: 20, cell: (one) => <RollingState of={one} /> },
  { title: 'At hand', kind: 'a', width: 14, cell: ({ node }) => node?.name ?? '–' },
  { title: 'Done', kind: 'b', num: true, width: 12, cell: ({ done, nodes }) => `${done} of ${nodes.length}` },
  {
    title: 'Started',
    kind: 'mid',
    width: 18,
    cell: ({ createdAt, startedBy }) => (
      <>
        <Time iso={createdAt} />
        <small>by {startedBy.name}</small>
      </>
    ),
  },
]
