// The own package that each package of the other panel becomes.
import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { listMappedPackages } from '../../../src/imports/mapping/mapping.ts'
import { difference, sizeWords } from '../../../src/imports/mapping/packages.ts'
import { applyToPackages } from '../../../src/imports/mapping/rules.ts'
import { type Answers, allIfAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { type Column, Count, Table } from '../../components/table.tsx'
import { exactGb } from '../../components/words.ts'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { Chosen, Decision, effectOf, RowChoice, type RowOption, Tick, TickAll, Why } from './choice.tsx'
import { listed, MappingFrame, mappingReads, rowFilters, useMayMap } from './frame.tsx'
import { LikePackage } from './like.tsx'
import type { SourcePackage } from './words.ts'

const reads = {
  ...mappingReads,
  packages: reading(listMappedPackages, ({ params, query }) => ({ params, query: listed(query, rowFilters) })),
  own: allIfAllowed(listPackages),
}
type Data = Answers<typeof reads>
type Own = NonNullable<Data['own']>['data'][number]

export const importPackagesPage = page({
  path: '/admin/imports/{id}/packages',
  reads,
  title: ({ import: of }) => `Packages of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <PackagesPage {...data} />,
})

function PackagesPage({ import: of, packages, own }: Data) {
  const mayMap = useMayMap(of)
  const ours = own?.data.filter(({ archived }) => !archived) ?? []
  const { like } = useAt().query
  const open = like === undefined ? undefined : packages.data.find(({ sourceId }) => sourceId === like)
  return (
    <MappingFrame of={of} part="packages">
      <List
        of={packages}
        noun="package"
        filters={[{ name: 'q', label: 'Package', placeholder: 'Package' }, ...decisionFilters]}
        empty={<Empty>The other panel has no packages.</Empty>}
      >
        <Table
          label="Packages of the other panel"
          rows={packages.data}
          columns={columnsFor({ of, ours, mayMap })}
          idOf={({ sourceId }) => `p-${sourceId}`}
        />
      </List>
      {mayMap && (
        <Chosen
          op={applyToPackages}
          of={of}
          options={[
            { value: 'like', label: 'Make ones like them' },
            ...(ours.length ? [{ value: 'own', label: 'All become' }] : []),
            { value: 'leave_out', label: 'Leave out' },
            { value: null, label: 'Undecided' },
          ]}
          more={{
            name: 'packageId',
            label: 'Your package',
            options: ours.map(({ id, name }) => ({ value: id, label: name })),
          }}
        />
      )}
      {mayMap && open && <LikePackage of={of} row={open} />}
      {!own && (
        <Section id="own" title="Your packages">
          <p class="muted">Your role does not show your packages, so that none of them can be chosen here.</p>
        </Section>
      )}
    </MappingFrame>
  )
}

/** The filters of every part whose rows are few. */
export const decisionFilters = [
  { name: 'undecided', label: 'Decision', options: [['true', 'undecided']] },
  { name: 'proposed', label: 'Proposal', options: [['true', 'proposed only']] },
] as const

type Deciding = { of: Import; ours: readonly Own[]; mayMap: boolean }

function optionsOf(row: SourcePackage, ours: readonly Own[]): RowOption[] {
  const why = (choice: string) => row.offers.find((one) => one.choice === choice && !one.isOffered)?.words
  const chosen = row.package && !ours.some(({ id }) => id === row.package!.id) ? [row.package] : []
  return [
    ...chosen.map(({ id, name }) => ({ given: { choice: 'own', packageId: id }, label: name })),
    ...ours.map((one) => ({
      given: { choice: 'own', packageId: one.id },
      label: `${one.name}: ${difference(row, one)}`,
      why: one.diskGb < row.leastDiskGb ? `a server has ${exactGb(row.leastDiskGb)} of disk` : undefined,
    })),
    { given: { choice: 'like' }, label: 'Make one like it', why: why('like') },
    { given: { choice: 'leave_out' }, label: 'Leave out of this import' },
  ]
}
const isChosen = (row: SourcePackage, { given }: RowOption) =>
  given['choice'] === row.choice && (row.choice !== 'own' || given['packageId'] === row.package?.id)

const differenceOf = (row: SourcePackage) =>
  row.choice === null
    ? 'None of your packages has its memory and at least its disk and vCPUs'
    : row.choice === 'own'
      ? row.difference
      : effectOf(row)

const columnsFor = ({ of, ours, mayMap }: Deciding): Column<SourcePackage>[] => [
  ...(mayMap ? [{ title: 'Select', kind: 'tick', head: <TickAll />, cell: Tick } as Column<SourcePackage>] : []),
  {
    title: 'Package at the source',
    kind: 'name',
    width: 24,
    cell: (row) => (
      <>
        <Link to="/admin/imports/{id}/servers" params={{ id: of.id }} query={{ packageId: row.sourceId }}>
          {row.name ?? row.sourceId}
        </Link>
        <small>{sizeWords(row)}</small>
      </>
    ),
  },
  { title: 'Servers', kind: 'mid', num: true, width: 9, cell: ({ servers }) => <Count n={servers} of="server" /> },
  {
    title: 'Becomes',
    kind: 'wide',
    width: 29,
    cell: (row) => {
      const options = optionsOf(row, ours)
      return (
        <RowChoice
          of={of}
          part="packages"
          row={row}
          options={options}
          chosen={options.find((one) => isChosen(row, one))}
          mayMap={mayMap}
        />
      )
    },
  },
  {
    title: 'Difference',
    kind: 'wide',
    width: 24,
    cell: (row) => (
      <Why>
        {differenceOf(row)}{' '}
        {mayMap && row.choice !== 'own' && (
          <Link
            to="/admin/imports/{id}/packages"
            params={{ id: of.id }}
            query={{ like: row.sourceId }}
            aria-label={`Make one like ${row.name ?? row.sourceId}, with other values`}
          >
            {row.choice === 'like' ? 'Change it' : 'Make one'}
          </Link>
        )}
      </Why>
    ),
  },
  {
    title: 'State',
    kind: 'state',
    width: 14,
    cell: (row) => (
      <Decision
        choice={row.choice}
        isProposed={row.isProposed}
        words={row.choice === 'like' ? 'Will be made' : row.difference === 'same size' ? 'Same size' : 'Decided'}
      />
    ),
  },
]
