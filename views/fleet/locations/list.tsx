import { allowMoves, changeLocation, createLocation, listLocations } from '../../../src/fleet/locations/locations.ts'
import { type Answers, page, readingAll } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, EditEntry, Menu } from '../../components/action.tsx'
import { Checks, Radios } from '../../components/choices.tsx'
import { Field, Select } from '../../components/field.tsx'
import { Meter } from '../../components/figures.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { gb, list, mb } from '../../components/words.ts'
import { LocationState, nodesOf, ordersOf } from './state.tsx'

type Location = Answers<{ l: typeof listLocations }>['l']['data'][number]

export const locationsPage = page({
  path: '/admin/node-groups',
  reads: { locations: readingAll(listLocations) },
  title: 'Locations',
  nav: 'locations',
  view: ({ locations }) => (
    <>
      <Head
        title="Locations"
        actions={<AddLocation />}
        sub={<span>A location is a group of nodes with a rule for placing new servers. Customers see its name.</span>}
      />
      {locations.data.length ? (
        <Live id="list" every={10} class="">
          <Table label="Locations" rows={locations.data} columns={columnsFor(locations.data)} idOf={(l) => l.id} />
        </Live>
      ) : (
        <Empty title="No locations yet">Add one, then enroll a node into it.</Empty>
      )}
    </>
  ),
})

export const placementWords = ({ placement }: Pick<Location, 'placement'>) =>
  placement === 'fill' ? 'Fills one node after the other' : 'Spreads servers over its nodes'

const columnsFor = (all: readonly Location[]): readonly Column<Location>[] => [
  {
    title: 'Location',
    kind: 'name',
    width: 18,
    cell: (l) => (
      <>
        <Link to="/admin/node-groups/{id}" params={{ id: l.id }} title={l.name}>
          {l.name}
        </Link>
        <small>{placementWords(l)}</small>
        {l.movesTo.length > 0 && <small>{movesOf(l, all)}</small>}
      </>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 18,
    cell: (l) => (
      <>
        <LocationState of={l} />
        <small class="keep">{ordersOf(l)}</small>
      </>
    ),
  },
  {
    title: 'Nodes',
    kind: 'mid',
    width: 13,
    cell: (l) => (
      <Link to="/admin/nodes" query={{ locationId: l.id }}>
        {nodesOf(l)}
      </Link>
    ),
  },
  {
    title: 'Servers',
    kind: 'mid',
    num: true,
    width: 8,
    cell: (l) =>
      l.servers ? (
        <Link to="/admin/servers" query={{ locationId: l.id }}>
          {l.servers}
        </Link>
      ) : (
        '0'
      ),
  },
  { title: 'Allocated memory', width: 17, cell: (l) => <Memory of={l} /> },
  { title: 'Allocated disk', width: 18, cell: (l) => <Disk of={l} /> },
  { title: 'Free IPv4', kind: 'lo', num: true, width: 8, cell: (l) => l.freeIpv4.toLocaleString('en') },
  { title: 'Actions', kind: 'more', cell: (l) => <LocationMenu of={l} all={all} /> },
]
const movesOf = ({ movesTo }: Location, all: readonly Location[]) =>
  `Servers may move to ${list(all.filter(({ id }) => movesTo.includes(id)).map(({ name }) => name))}`

const Memory = ({ of: l }: { of: Location }) => (
  <>
    <Meter
      label="Allocated memory"
      value={l.heldMemoryMb}
      total={l.memoryMb}
      words={`${mb(l.heldMemoryMb)} of ${mb(l.memoryMb)}`}
      inline
    />
    {l.reserve > 0 && (
      <small>
        {mb(l.reserveMb)} reserve: {l.orderableMemoryMb > 0 ? `${mb(l.orderableMemoryMb)} left for orders` : 'full'}
      </small>
    )}
  </>
)
const Disk = ({ of: l }: { of: Location }) => (
  <Meter
    label="Allocated disk"
    value={l.heldDiskGb}
    total={l.diskGb}
    words={`${gb(l.heldDiskGb)} of ${gb(l.diskGb)}`}
    inline
  />
)

const AddLocation = () => (
  <Action
    op={createLocation}
    label="Add location"
    icon="plus"
    tone="pri"
    done="{name} is added"
    fields={<LocationFields scope="location" />}
  />
)

/** Nothing for readers who may only look. */
export const LocationMenu = ({ of: l, all = [] }: { of: Location; all?: readonly Location[] }) =>
  useAt().may(changeLocation) ? (
    <Menu label={`Actions for ${l.name}`} small>
      <Action
        op={changeLocation}
        params={{ id: l.id }}
        label={l.open ? 'Close' : 'Open'}
        of={l.name}
        inMenu
        body={{ open: !l.open }}
        done={l.open ? `${l.name} takes no new servers` : `${l.name} takes new servers`}
      />
      <EditEntry op={changeLocation} of={l} label="Edit" fields={<LocationFields scope={`edit-${l.id}`} of={l} />} />
      {all.length > 1 && <Moves of={l} all={all} />}
    </Menu>
  ) : null

const othersOf = ({ id: own }: Location, all: readonly Location[]) =>
  all.filter(({ id }) => id !== own).map(({ id, name }) => ({ value: id, label: name }))
/** Also on the page of the location. */
export const Moves = ({ of: l, all, inMenu = true }: { of: Location; all: readonly Location[]; inMenu?: boolean }) => (
  <EditEntry
    op={allowMoves}
    of={l}
    label="Moves from"
    inMenu={inMenu}
    fields={
      <>
        <Checks
          scope={`moves-${l.id}`}
          name="locationIds"
          label="Its servers may move to"
          hint="They get new addresses there, and their owners are told by mail before and after."
          values={l.movesTo}
          options={othersOf(l, all)}
        />
        <Checks
          scope={`moves-${l.id}`}
          name="offeredIds"
          label="Offered to owners"
          hint="Of these, owners of servers choose the ticked ones themselves. The others are for staff alone."
          values={l.movesOffered}
          options={othersOf(l, all)}
        />
      </>
    }
  />
)

const LocationFields = ({ scope, of: l }: { scope: string; of?: Location }) => (
  <>
    <Field
      scope={scope}
      name="name"
      label="Name"
      required
      value={l?.name}
      hint="What customers see, for example Frankfurt."
    />
    <Radios
      scope={scope}
      name="placement"
      label="Placement of new servers"
      value={l?.placement ?? 'spread'}
      options={[
        { value: 'spread', label: 'Spread', hint: 'On the node with the most free memory.' },
        {
          value: 'fill',
          label: 'Fill',
          hint: 'On the fullest node with enough space, so that whole nodes stay empty.',
        },
      ]}
    />
    <Field
      scope={scope}
      name="reserve"
      label="Reserve"
      type="number"
      value={String(l?.reserve ?? 0)}
      hint="Memory that orders leave free for the loss of a node. 0: none. Moves may use it."
    />
    <Select
      scope={scope}
      name="reserveUnit"
      label="Unit of the reserve"
      value={l?.reserveUnit ?? 'nodes'}
      options={[
        { value: 'nodes', label: 'Nodes: the memory of its largest ones' },
        { value: 'percent', label: 'Percent of its memory' },
        { value: 'gb', label: 'GiB' },
      ]}
    />
  </>
)
