import type { listAllInstances } from '../../../src/compute/gpu-instances/list.ts'
import { pageOf } from '../../../src/compute/gpu-instances/model.ts'
import { powerInstance } from '../../../src/compute/gpu-instances/run/power.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Menu } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Link } from '../../components/link.tsx'
import { Copyable } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { PowerButton } from './actions.tsx'
import { InstanceState } from './state.tsx'
import { cardWords, type Instance } from './words.ts'

export type ListedInstances = Answers<{ i: typeof listAllInstances }>['i']

/** The columns that the list can be sorted by. */
export const instanceSorts = {
  name: { title: 'Instance', sort: 'name' },
  state: { title: 'State', sort: 'status' },
  location: { title: 'Location', sort: 'location' },
  owner: { title: 'Owner', sort: 'owner' },
} as const

const Name = ({ of: it, area }: { of: Instance; area: Area }) => (
  <>
    <a href={pageOf(area, it.id)} title={it.name}>
      {it.name}
    </a>
    <small title={it.image.name}>{it.image.name}</small>
    {it.access !== 'own' && <small>Shared by {it.owner.name}</small>}
  </>
)

type TableProps = { instances: readonly Instance[]; area: Area; sortable?: boolean }
/** The owner and the host are shown to those who have several. */
export function InstanceTable({ instances, area, sortable }: TableProps) {
  const at = useAt()
  const columns: (Column<Instance> | false)[] = [
    { ...instanceSorts.name, kind: 'name', width: 22, cell: (it) => <Name of={it} area={area} /> },
    { ...instanceSorts.state, kind: 'state', width: 16, cell: (it) => <InstanceState of={it} /> },
    {
      title: 'Connect',
      kind: 'addr',
      width: 24,
      cell: (it) => (it.sshCommand ? <Copyable text={it.sshCommand} what={`SSH command of ${it.name}`} /> : '–'),
    },
    {
      title: 'Cards',
      kind: 'a',
      width: 18,
      cell: (it) => (
        <>
          {cardWords(it)}
          <small>{it.offer.name}</small>
        </>
      ),
    },
    {
      ...instanceSorts.location,
      kind: 'b',
      width: 12,
      cell: (it) => (
        <>
          {it.location.name}
          {it.node && (
            <small>
              <Link href={`/admin/nodes/${it.node.id}`}>{it.node.name}</Link>
            </small>
          )}
        </>
      ),
    },
    area !== '' && {
      ...instanceSorts.owner,
      kind: 'mid',
      width: 14,
      cell: ({ owner, access }) =>
        access === 'own' ? <Link href={`${area}/customers/${owner.id}`}>{owner.name}</Link> : owner.name,
    },
    at.may(powerInstance) && {
      title: 'Actions',
      kind: 'more',
      cell: (it) => (
        <Menu label={`Actions for ${it.name}`} small>
          <PowerButton instance={it} action="start" inRow />
          <PowerButton instance={it} action="stop" inRow />
          <PowerButton instance={it} action="restart" inRow />
        </Menu>
      ),
    },
  ]
  return (
    <Table
      label="GPU instances"
      rows={instances}
      columns={columns.filter((c): c is Column<Instance> => c !== false)}
      idOf={({ id }) => id}
      stick
      sortable={sortable}
    />
  )
}
