// Where the servers of each hypervisor go.
import { listLocations } from '../../../src/fleet/locations/locations.ts'
import { getPlan, listMappedHypervisors } from '../../../src/imports/mapping/mapping.ts'
import { applyToHypervisors } from '../../../src/imports/mapping/rules.ts'
import { type Answers, allIfAllowed, aroundParts, page, reading } from '../../../src/kernel/web/page.ts'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Facts, Note, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Count, Table } from '../../components/table.tsx'
import { count, gb, mb } from '../../components/words.ts'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { Chosen, Decision, effectOf, RowChoice, type RowOption, Tick, TickAll, Why } from './choice.tsx'
import { listed, MappingFrame, mappingReads, rowFilters, useMayMap } from './frame.tsx'
import { decisionFilters } from './packages.tsx'

const reads = {
  ...mappingReads,
  hypervisors: reading(listMappedHypervisors, ({ params, query }) => ({ params, query: listed(query, rowFilters) })),
  plan: aroundParts(reading(getPlan, ({ params }) => ({ params }))),
  locations: allIfAllowed(listLocations),
}
type Data = Answers<typeof reads>
type Hypervisor = Data['hypervisors']['data'][number]
type Place = { id: string; name: string }
type Plan = NonNullable<Data['plan']>

export const importLocationsPage = page({
  path: '/admin/imports/{id}/locations',
  reads,
  title: ({ import: of }) => `Locations of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <LocationsPage {...data} />,
})

function LocationsPage({ import: of, hypervisors, plan, locations }: Data) {
  const mayMap = useMayMap(of)
  const places = locations?.data ?? []
  return (
    <MappingFrame of={of} part="hypervisors">
      {mayMap && !places.length && <NoPlaces isHidden={!locations} />}
      <List
        of={hypervisors}
        noun="hypervisor"
        filters={[{ name: 'q', label: 'Hypervisor', placeholder: 'Hypervisor' }, ...decisionFilters]}
        empty={<Empty>The other panel has no hypervisors.</Empty>}
      >
        <Table
          label="Hypervisors"
          rows={hypervisors.data}
          columns={columnsFor(of, places, mayMap)}
          idOf={({ sourceId }) => `h-${sourceId}`}
        />
      </List>
      {mayMap && (
        <Chosen
          op={applyToHypervisors}
          of={of}
          options={[
            ...(places.length ? [{ value: 'copy', label: 'Copy to' }] : []),
            { value: 'adopt', label: 'Adopt' },
            { value: 'leave_out', label: 'Leave out' },
            { value: null, label: 'Undecided' },
          ]}
          more={{
            name: 'locationId',
            label: 'Location',
            options: places.map(({ id, name }) => ({ value: id, label: name })),
          }}
        />
      )}
      <div class="split">
        <div>{plan && <Arrivals plan={plan} />}</div>
        <TwoWays />
      </div>
    </MappingFrame>
  )
}

/** Nothing can be copied without a location: who can give this reader one. */
const NoPlaces = ({ isHidden }: { isHidden: boolean }) => (
  <Note level="warn">
    {isHidden ? (
      <>
        <strong>Your role sees no locations,</strong> so you cannot choose where servers are copied to. Ask a colleague
        for the permission to see nodes, or to choose here.
      </>
    ) : (
      <>
        <strong>There is no location yet.</strong> <Link to="/admin/node-groups">Add one</Link>, then choose where
        servers are copied to.
      </>
    )}
  </Note>
)

function optionsOf({ offers, goesTo, node }: Hypervisor, places: readonly Place[]): RowOption[] {
  const why = (choice: string) => offers.find((one) => one.choice === choice && !one.isOffered)?.words
  const all = goesTo && !places.some(({ id }) => id === goesTo.id) ? [goesTo, ...places] : places
  return [
    ...all.map(({ id, name }) => ({
      given: { choice: 'copy', locationId: id },
      label: `Copy to ${name}`,
      why: why('copy') && 'not offered',
    })),
    {
      given: { choice: 'adopt' },
      label: node ? `Adopt: stays, is node ${node.name}` : 'Adopt',
      why: why('adopt') && 'no node has its address',
    },
    { given: { choice: 'leave_out' }, label: 'Leave out of this import' },
  ]
}
const isChosen = ({ choice, goesTo }: Hypervisor, { given }: RowOption) =>
  given['choice'] === choice && (choice !== 'copy' || given['locationId'] === goesTo?.id)

const effect = (row: Hypervisor) =>
  row.choice === null
    ? (row.offers.find(({ choice, isOffered }) => choice === 'adopt' && !isOffered)?.words ?? '')
    : `${row.choice === 'copy' ? `${gb(row.diskGb)}. ` : ''}${effectOf(row) ?? ''}`

const columnsFor = (of: Import, places: readonly Place[], mayMap: boolean): Column<Hypervisor>[] => [
  ...(mayMap ? [{ title: 'Select', kind: 'tick', head: <TickAll />, cell: Tick } as Column<Hypervisor>] : []),
  {
    title: 'Hypervisor',
    kind: 'name',
    width: 22,
    cell: ({ sourceId, name, address, isPanel }) => (
      <>
        <Link to="/admin/imports/{id}/servers" params={{ id: of.id }} query={{ hypervisorId: sourceId }}>
          {name ?? sourceId}
        </Link>
        <small class="mono">
          {address}
          {isPanel && ' · panel'}
        </small>
      </>
    ),
  },
  { title: 'Servers', kind: 'mid', num: true, width: 9, cell: ({ servers }) => <Count n={servers} of="server" /> },
  {
    title: 'What happens',
    kind: 'wide',
    width: 27,
    cell: (row) => {
      const options = optionsOf(row, places)
      return (
        <RowChoice
          of={of}
          part="hypervisors"
          row={row}
          options={options}
          chosen={options.find((one) => isChosen(row, one))}
          mayMap={mayMap}
        />
      )
    },
  },
  { title: 'Effect', kind: 'wide', width: 28, cell: (row) => <Why>{effect(row)}</Why> },
  {
    title: 'State',
    kind: 'state',
    width: 14,
    cell: (row) => <Decision {...row} words={row.choice === 'adopt' ? 'Adopted' : 'Decided'} />,
  },
]

/** The servers that come to each location, as things are decided. */
const Arrivals = ({ plan }: { plan: Plan }) => (
  <Section id="arrivals" title="What would arrive" count="as things are decided" flush>
    {plan.locations.length ? (
      <Table label="What would arrive" rows={plan.locations} idOf={({ id }) => `to-${id}`} columns={arrivalColumns} />
    ) : (
      <Empty>No server is copied to a location yet.</Empty>
    )}
  </Section>
)
const arrivalColumns: readonly Column<Plan['locations'][number]>[] = [
  {
    title: 'Location',
    kind: 'name',
    width: 26,
    cell: ({ id, name }) => (
      <Link to="/admin/node-groups/{id}" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Servers', kind: 'a', num: true, width: 16, cell: ({ servers }) => count(servers, 'server') },
  { title: 'Memory', kind: 'mid', num: true, width: 16, cell: ({ memoryMb }) => mb(memoryMb) },
  { title: 'Disk', kind: 'b', num: true, width: 16, cell: ({ diskGb }) => gb(diskGb) },
  {
    title: 'New IPv4',
    kind: 'state',
    width: 26,
    cell: ({ newIpv4, freeIpv4 }) =>
      newIpv4 === 0 ? (
        <State tone="idle" shape="dot">
          None needed
        </State>
      ) : (
        <State tone={newIpv4 > freeIpv4 ? 'warn' : 'ok'} shape={newIpv4 > freeIpv4 ? 'wait' : 'tick'}>
          {`${newIpv4.toLocaleString('en')} of ${freeIpv4.toLocaleString('en')} free`}
        </State>
      ),
  },
]

const TwoWays = () => (
  <Section id="ways" title="Two ways">
    <Facts
      of={[
        ['Copy', 'The server ends up on one of your nodes. It is off while its disk is copied.'],
        [
          'Adopt',
          'The server stays where it is, with one restart. Its hypervisor is a node of yours: its address tells, ' +
            'never its name.',
        ],
        ['Leave out', 'Nothing happens to it. A later import can take it.'],
      ]}
    />
  </Section>
)
