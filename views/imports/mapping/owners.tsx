// The accounts that get the servers of each owner of the other panel, and conflicts with accounts that are here.
import { listCustomers } from '../../../src/identity/customers/customers.ts'
import { listResellers } from '../../../src/identity/resellers/resellers.ts'
import { getMapping, listMappedOwners } from '../../../src/imports/mapping/mapping.ts'
import { applyToOwners } from '../../../src/imports/mapping/rules.ts'
import { type Answers, allIfAllowed, aroundParts, ifAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { addressWith, type Column, Count, Table } from '../../components/table.tsx'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { Chosen, effectOf, RowChoice, type RowOption, Tick, TickAll, Why } from './choice.tsx'
import { listed, MappingFrame, mappingReads, useMayMap } from './frame.tsx'
import { GiveToCustomer, Rules } from './rules.tsx'
import { nameOf, type Owner } from './words.ts'

const filters = ['conflict', 'choice', 'undecided', 'proposed', 'lapsed', 'q']
const reads = {
  ...mappingReads,
  owners: reading(listMappedOwners, ({ params, query }) => ({ params, query: listed(query, filters) })),
  mapping: aroundParts(reading(getMapping, ({ params }) => ({ params }))),
  resellers: allIfAllowed(listResellers),
  customers: ifAllowed(listCustomers, ({ query }) => ({
    query: { limit: query['give'] ? '10' : '1', ...(query['customer'] && { q: query['customer'] }) },
  })),
}
type Data = Answers<typeof reads>

export const importOwnersPage = page({
  path: '/admin/imports/{id}/owners',
  reads,
  title: ({ import: of }) => `Owners of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <OwnersPage {...data} />,
})

function OwnersPage({ import: of, owners, mapping, resellers, customers }: Data) {
  const mayMap = useMayMap(of)
  const { give } = useAt().query
  const open = give === undefined ? undefined : owners.data.find(({ sourceId }) => sourceId === give)
  return (
    <MappingFrame of={of} part="owners">
      {mapping && <Facets counts={mapping.owners.choices} />}
      <List
        of={owners}
        noun="owner"
        filters={[
          { name: 'q', label: 'Name, e-mail or server', placeholder: 'Name, e-mail or server' },
          { name: 'conflict', label: 'Kind of conflict', options: conflictOptions },
          { name: 'choice', label: 'What happens', options: Object.entries(choiceWords) },
          { name: 'lapsed', label: 'Earlier choice', options: [['true', 'does not hold any more']] },
          { name: 'undecided', label: 'Decision', value: 'undecided' },
          { name: 'proposed', label: 'Proposal', value: 'proposed only' },
        ]}
        empty={<Empty>The other panel has no owners.</Empty>}
      >
        <Table
          label="Owners of the other panel"
          rows={owners.data}
          columns={columnsFor(of, mayMap)}
          idOf={({ sourceId }) => `o-${sourceId}`}
        />
      </List>
      {mayMap && (
        <Chosen
          op={applyToOwners}
          of={of}
          options={[
            ...(['create', 'merge', 'separate', 'client_area', 'leave_out'] as const).map((value) => ({
              value,
              label: choiceWords[value],
            })),
            { value: null, label: 'Undecided' },
          ]}
          more={
            resellers?.data.length
              ? {
                  name: 'resellerId',
                  label: 'Whose customers new accounts become',
                  nullable: true,
                  options: [
                    { value: '', label: 'of no reseller' },
                    ...resellers.data.map(({ id, name }) => ({ value: id, label: `of ${name}` })),
                  ],
                }
              : undefined
          }
        />
      )}
      {mayMap && open && <GiveToCustomer of={of} row={open} customers={customers} />}
      {mayMap && <Rules of={of} />}
    </MappingFrame>
  )
}

const choiceWords = {
  create: 'A new customer',
  merge: 'Into the account',
  separate: 'A separate account',
  client_area: 'Into the client area',
  existing: 'A customer that you choose',
  one_account: 'One account for all',
  leave_out: 'Leave out of this import',
} as const satisfies Record<NonNullable<Owner['choice']>, string>

type Counted = { choice: string | null; isProposed: boolean; rows: number }
/** How many are undecided, proposed and decided: links that filter the list. */
function Facets({ counts }: { counts: readonly Counted[] }) {
  const at = useAt()
  const sum = (fits: (one: Counted) => boolean) => counts.filter(fits).reduce((n, one) => n + one.rows, 0)
  const facets = [
    ['To decide', { undecided: 'true' }, sum(({ choice }) => choice === null)],
    ['Proposed', { proposed: 'true' }, sum(({ isProposed }) => isProposed)],
    ['Left out', { choice: 'leave_out' }, sum(({ choice }) => choice === 'leave_out')],
    ['All', {}, sum(() => true)],
  ] as const
  const off = { undecided: null, proposed: null, choice: null, give: null, customer: null }
  const isOn = (asked: Readonly<Record<string, string>>) =>
    (['undecided', 'proposed', 'choice'] as const).every((name) => (at.query[name] ?? '') === (asked[name] ?? ''))
  return (
    <nav class="facets" aria-label="Show">
      {facets.map(([words, asked, n]) => (
        <a class="facet" href={addressWith(at, { ...off, ...asked })} aria-current={isOn(asked) ? 'true' : undefined}>
          {words} <span class="n">{n.toLocaleString('en')}</span>
        </a>
      ))}
    </nav>
  )
}

const conflicts: Record<Owner['conflict'], { words: string; tone: Tone; shape: IconName }> = {
  none: { words: 'Not here yet', tone: 'ok', shape: 'dot' },
  customer: { words: 'Customer', tone: 'warn', shape: 'away' },
  reseller: { words: 'Reseller', tone: 'hold', shape: 'hold' },
  staff: { words: 'Staff', tone: 'bad', shape: 'fail' },
  external_id: { words: 'Billing number taken', tone: 'warn', shape: 'away' },
  twice: { words: 'Twice there', tone: 'warn', shape: 'away' },
  unknown: { words: 'Nobody', tone: 'idle', shape: 'stop' },
}
const conflictOptions = Object.entries(conflicts).map(([value, { words }]) => [value, words] as const)

function conflictWords({ conflict, account }: Owner): string | null {
  switch (conflict) {
    case 'staff':
      return 'never goes into a staff account'
    case 'twice':
      return 'another owner has the same address'
    case 'external_id':
      return account ? account.name : 'another owner there has it too'
    case 'customer':
    case 'reseller':
      return account && (account.isLocked ? `${account.name}, locked` : account.name)
    default:
      return null
  }
}

function Conflict({ of }: { of: Owner }) {
  const { words, tone, shape } = conflicts[of.conflict]
  const more = conflictWords(of)
  return (
    <>
      <State tone={tone} shape={shape}>
        {words}
      </State>
      {more && <small title={more}>{more}</small>}
    </>
  )
}

const optionsOf = ({ offers, choice }: Owner): RowOption[] =>
  offers.flatMap((one) => {
    // A customer is chosen below the list; then it stands here.
    if (one.choice === 'existing' && choice !== 'existing') return []
    return [
      {
        given: { choice: one.choice },
        label: choiceWords[one.choice as keyof typeof choiceWords],
        why: one.isOffered ? undefined : 'not offered',
      },
    ]
  })

/** The effect of the choice; without one why the last one lapsed, or why a choice is not offered. */
const effect = (row: Owner) =>
  row.lapsed ?? effectOf(row) ?? row.offers.find(({ isOffered }) => !isOffered)?.words ?? row.offers[0]?.words ?? ''

const columnsFor = (of: Import, mayMap: boolean): Column<Owner>[] => [
  ...(mayMap
    ? [
        {
          title: 'Select',
          kind: 'tick',
          head: <TickAll />,
          cell: (row: Owner) => <Tick sourceId={row.sourceId} name={nameOf(row)} />,
        } as Column<Owner>,
      ]
    : []),
  {
    title: 'Owner at the source',
    kind: 'name',
    width: 24,
    cell: (row) => (
      <>
        <Link to="/admin/imports/{id}/servers" params={{ id: of.id }} query={{ ownerId: row.sourceId }}>
          {nameOf(row)}
        </Link>
        <small title={row.email ?? undefined}>{aboutOf(row)}</small>
      </>
    ),
  },
  { title: 'Servers', kind: 'mid', num: true, width: 9, cell: ({ servers }) => <Count n={servers} of="server" /> },
  { title: 'Here', kind: 'state', width: 18, cell: (row) => <Conflict of={row} /> },
  {
    title: 'What happens',
    kind: 'wide',
    width: 22,
    cell: (row) => {
      const options = optionsOf(row)
      return (
        <RowChoice
          of={of}
          part="owners"
          row={{ sourceId: row.sourceId, name: nameOf(row) }}
          options={options}
          chosen={options.find(({ given }) => given['choice'] === row.choice)}
          mayMap={mayMap}
        />
      )
    },
  },
  {
    title: 'Result',
    kind: 'wide',
    width: 27,
    cell: (row) => (
      <Why>
        {row.isProposed && 'Proposed: '}
        {effect(row)}{' '}
        {mayMap && row.conflict === 'unknown' && (
          <Link
            to="/admin/imports/{id}/owners"
            params={{ id: of.id }}
            query={{ give: row.sourceId }}
            aria-label={`Choose a customer for ${nameOf(row)}`}
          >
            Choose a customer
          </Link>
        )}
      </Why>
    ),
  },
]
const aboutOf = ({ email, kind, isSuspended }: Owner) =>
  [email ?? 'no e-mail at the source', kind === 'customer' ? null : `${kind} there`, isSuspended && 'suspended there']
    .filter(Boolean)
    .join(' · ')
