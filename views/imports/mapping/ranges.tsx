// The choice for each range of addresses of the other panel.
import { changeMapping, listMappedRanges } from '../../../src/imports/mapping/mapping.ts'
import { applyToRanges } from '../../../src/imports/mapping/rules.ts'
import { type Answers, page, reading } from '../../../src/kernel/web/page.ts'
import { CallForm } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { type Column, Count, Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { Chosen, Decision, effectOf, RowChoice, type RowOption, Tick, TickAll, Why } from './choice.tsx'
import { listed, MappingFrame, mappingReads, rowFilters, useMayMap } from './frame.tsx'
import { decisionFilters } from './packages.tsx'

const reads = {
  ...mappingReads,
  ranges: reading(listMappedRanges, ({ params, query }) => ({ params, query: listed(query, rowFilters) })),
}
type Data = Answers<typeof reads>
type Range = Data['ranges']['data'][number]

export const importRangesPage = page({
  path: '/admin/imports/{id}/ranges',
  reads,
  title: ({ import: of }) => `Ranges of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <RangesPage {...data} />,
})

function RangesPage({ import: of, ranges }: Data) {
  const mayMap = useMayMap(of)
  const open = ranges.data.filter(({ choice, importable }) => choice === null && importable > 0)
  return (
    <MappingFrame of={of} part="ranges">
      <List
        of={ranges}
        noun="range"
        filters={[{ name: 'q', label: 'Range', placeholder: 'Name of a range' }, ...decisionFilters]}
        empty={<Empty>The other panel has no ranges of addresses.</Empty>}
      >
        <Table
          label="Ranges of the other panel"
          rows={ranges.data}
          columns={columnsFor(of, mayMap)}
          idOf={({ sourceId }) => `r-${sourceId}`}
        />
      </List>
      {mayMap && (
        <Chosen
          op={applyToRanges}
          of={of}
          options={[
            ...Object.entries(choiceWords).map(([value, label]) => ({ value, label })),
            { value: null, label: 'Undecided' },
          ]}
        />
      )}
      <div class="split">
        <div>{mayMap && open[0] && <WhatIsRight of={of} row={open[0]} />}</div>
        <WithNewAddresses />
      </div>
    </MappingFrame>
  )
}

const choiceWords = {
  keep: 'Keep the addresses',
  new: 'Give copies new addresses',
  pool: 'Part of your pool',
  leave_out: 'Leave out of this import',
} as const
type Choice = keyof typeof choiceWords

const rangeOf = ({ network, first, last, name, sourceId }: Range) =>
  network ?? (first && last ? `${first} – ${last}` : (name ?? sourceId))
const reachWords = { public: null, internal: 'internal', nat: 'behind NAT' } as const
const aboutOf = (row: Range) =>
  [rangeOf(row) === row.name ? null : row.name, row.gateway && `gateway ${row.gateway}`, reachWords[row.reach]]
    .filter(Boolean)
    .join(' · ')

const optionsOf = ({ offers }: Range): RowOption[] =>
  offers.map(({ choice, isOffered }) => ({
    given: { choice },
    label: choiceWords[choice as Choice],
    why: isOffered ? undefined : 'not offered',
  }))

/** For a range without a decision: the reason of the first choice that is not offered, or the question. */
const effect = (row: Range) =>
  row.choice === null
    ? row.reach === 'public'
      ? 'Keep it only if it is, or will be, routed to your nodes'
      : (row.offers.find(({ isOffered }) => !isOffered)?.words ?? '')
    : effectOf(row)

const columnsFor = (of: Import, mayMap: boolean): Column<Range>[] => [
  ...(mayMap
    ? [
        {
          title: 'Select',
          kind: 'tick',
          head: <TickAll />,
          cell: (row: Range) => <Tick sourceId={row.sourceId} name={rangeOf(row)} />,
        } as Column<Range>,
      ]
    : []),
  {
    title: 'Range at the source',
    kind: 'name',
    width: 26,
    cell: (row) => (
      <>
        <Link
          to="/admin/imports/{id}/servers"
          params={{ id: of.id }}
          query={{ rangeId: row.sourceId }}
          class="mono"
          title={rangeOf(row)}
        >
          {rangeOf(row)}
        </Link>
        <small title={aboutOf(row)}>{aboutOf(row)}</small>
      </>
    ),
  },
  { title: 'Servers', kind: 'mid', num: true, width: 9, cell: ({ servers }) => <Count n={servers} of="server" /> },
  {
    title: 'What happens',
    kind: 'wide',
    width: 25,
    cell: (row) => {
      const options = optionsOf(row)
      return (
        <RowChoice
          of={of}
          part="ranges"
          row={{ sourceId: row.sourceId, name: rangeOf(row) }}
          options={options}
          chosen={options.find(({ given }) => given['choice'] === row.choice)}
          mayMap={mayMap}
        />
      )
    },
  },
  { title: 'Effect', kind: 'wide', width: 27, cell: (row) => <Why>{effect(row)}</Why> },
  { title: 'State', kind: 'state', width: 13, cell: (row) => <Decision {...row} /> },
]

/** The first range that waits: each choice with its effect, or why it cannot be made. */
const WhatIsRight = ({ of, row }: { of: Import; row: Range }) => (
  <Section id="right" title={`${rangeOf(row)}: what is right?`}>
    <CallForm
      op={changeMapping}
      params={{ id: of.id }}
      body={{ 'ranges.0.sourceId': row.sourceId }}
      class="stack"
      done="Saved"
    >
      <Radios
        scope={`right-${row.sourceId}`}
        name="ranges.0.choice"
        label={`What happens to ${rangeOf(row)}`}
        quiet
        value={row.offers.find(({ isOffered }) => isOffered)?.choice}
        options={row.offers.map(({ choice, isOffered, words }) => ({
          value: choice,
          label: choiceWords[choice as Choice],
          ...(isOffered ? { hint: words } : { why: `Not offered: ${words}` }),
        }))}
      />
      <div class="bar">
        <button class="btn pri">
          <Icon name="check" />
          Decide
        </button>
        <span class="muted">{count(row.importable, 'server')}</span>
      </div>
    </CallForm>
  </Section>
)

const WithNewAddresses = () => (
  <Section id="new-addresses" title="With new addresses">
    <ul class="rows">
      <li>
        <Icon name="pool" class="muted" />
        <div class="grow">
          <b>From the pools of its node</b>
          <small>Each copy gets as many IPv4 addresses as it had</small>
        </div>
      </li>
      <li>
        <Icon name="network" class="muted" />
        <div class="grow">
          <b>No IPv6 of the source</b>
          <small>A copy with new IPv4 addresses loses its old IPv6 addresses</small>
        </div>
      </li>
      <li>
        <Icon name="node" class="muted" />
        <div class="grow">
          <b>Adopted servers keep theirs</b>
          <small>They stay where they are, with every address</small>
        </div>
      </li>
    </ul>
  </Section>
)
