import type { ComponentChildren } from 'preact'
import type { listAllInstances } from '../../../src/compute/gpu-instances/list.ts'
import { pageOf } from '../../../src/compute/gpu-instances/model.ts'
import { powerInstance } from '../../../src/compute/gpu-instances/run/power.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Menu } from '../../components/action.tsx'
import type { Area } from '../../components/area.ts'
import { Copyable } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { OwnerLink, Place, SharedBy } from '../workloads/cells.tsx'
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

const Name = ({ of: instance, area }: { of: Instance; area: Area }) => (
  <>
    <a href={pageOf(area, instance.id)} title={instance.name}>
      {instance.name}
    </a>
    <small title={instance.image.name}>{instance.image.name}</small>
    <SharedBy of={instance} />
  </>
)

type TableProps = {
  instances: readonly Instance[]
  area: Area
  /** The box of a row that can be chosen, and the one in the head for all of them. */
  tick?: { all: ComponentChildren; one(instance: Instance): ComponentChildren } | undefined
  sortable?: boolean
}
/** The owner and the host are shown to those who have several. */
export function InstanceTable({ instances, area, tick, sortable }: TableProps) {
  const at = useAt()
  const columns: (Column<Instance> | false)[] = [
    !!tick && { title: 'Choose', kind: 'tick', head: tick.all, cell: tick.one },
    { ...instanceSorts.name, kind: 'name', width: 22, cell: (instance) => <Name of={instance} area={area} /> },
    { ...instanceSorts.state, kind: 'state', width: 16, cell: (instance) => <InstanceState of={instance} /> },
    {
      title: 'Connect',
      kind: 'addr',
      width: 24,
      cell: (instance) =>
        instance.sshCommand ? <Copyable text={instance.sshCommand} what={`SSH command of ${instance.name}`} /> : '–',
    },
    {
      title: 'Cards',
      kind: 'a',
      width: 18,
      cell: (instance) => (
        <>
          {cardWords(instance)}
          <small>{instance.offer.name}</small>
        </>
      ),
    },
    {
      ...instanceSorts.location,
      kind: 'b',
      width: 12,
      cell: (instance) => <Place of={instance} />,
    },
    area !== '' && {
      ...instanceSorts.owner,
      kind: 'mid',
      width: 14,
      cell: (instance) => <OwnerLink of={instance} area={area} />,
    },
    at.may(powerInstance) && {
      title: 'Actions',
      kind: 'more',
      cell: (instance) => (
        <Menu label={`Actions for ${instance.name}`} small>
          <PowerButton instance={instance} action="start" inRow />
          <PowerButton instance={instance} action="stop" inRow />
          <PowerButton instance={instance} action="restart" inRow />
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
