// Updates of the agents of all nodes: the list, and the way to a new one.

import { page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { listRollOuts, startRollOut } from '../../../src/platform/roll-outs/roll-outs.ts'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { type Listed, RollOutState, titleOf, updatesTrail } from './words.tsx'

export const rollOutsPage = page({
  path: '/admin/roll-outs',
  reads: { rollOuts: listRollOuts },
  title: 'Roll-outs',
  nav: 'controller',
  view: ({ rollOuts }) => (
    <>
      <Head
        title="Roll-outs"
        trail={updatesTrail}
        sub={<span>Agents are brought to the version of the controller: one node first, then waves</span>}
        actions={<New />}
      />
      <List
        of={rollOuts}
        noun="roll-out"
        plural="roll-outs"
        every={4}
        empty={
          <Empty title="No roll-out yet" action={<New />}>
            After an update of the controller, a roll-out brings the agents of all nodes to the same version. The first
            node that fails stops it.
          </Empty>
        }
      >
        <Table label="Roll-outs" rows={rollOuts.data} columns={columns} idOf={({ id }) => id} />
      </List>
    </>
  ),
})

const New = () =>
  useAt().may(startRollOut) ? (
    <Link class="btn pri" to="/admin/roll-outs/new">
      <Icon name="plus" />
      Update agents
    </Link>
  ) : null

const columns: readonly Column<Listed>[] = [
  {
    title: 'Version',
    kind: 'name',
    width: 30,
    cell: (one) => (
      <Link to="/admin/roll-outs/{id}" params={{ id: one.id }}>
        {titleOf(one)}
      </Link>
    ),
  },
  { title: 'State', kind: 'state', width: 24, cell: (one) => <RollOutState of={one} /> },
  { title: 'Nodes', kind: 'a', width: 20, cell: ({ updated, nodes }) => `${updated} of ${nodes} run it` },
  {
    title: 'Started',
    kind: 'b',
    width: 26,
    cell: ({ createdAt, startedBy }) => (
      <>
        <Time iso={createdAt} /> by {startedBy.name}
      </>
    ),
  },
]
