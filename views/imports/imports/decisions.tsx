// The decisions that are left, and those that are made, each with the way to its page.
import type { ComponentChildren } from 'preact'
import type { getMapping, listMappedHypervisors } from '../../../src/imports/mapping/mapping.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { Icon, type IconName } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Empty, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { count, list } from '../../components/words.ts'
import type { Import } from './words.tsx'

export type Mapping = Answers<{ mapping: typeof getMapping }>['mapping']
type Hypervisors = Answers<{ hypervisors: typeof listMappedHypervisors }>['hypervisors']
export type PartName = 'packages' | 'ranges' | 'hypervisors' | 'owners'

/** The page of each part. */
const pages = {
  packages: '/admin/imports/{id}/packages',
  ranges: '/admin/imports/{id}/ranges',
  hypervisors: '/admin/imports/{id}/locations',
  owners: '/admin/imports/{id}/owners',
} as const satisfies Record<PartName, string>
const icons = { packages: 'package', ranges: 'pool', hypervisors: 'location', owners: 'customers' } as const

/** In the order in which they are best decided. */
const order = ['hypervisors', 'packages', 'ranges', 'owners'] as const
const waiting = (rows: number, servers: number) =>
  `${count(servers, 'server')} ${servers === 1 ? 'waits' : 'wait'} for ${rows === 1 ? 'it' : 'them'}.`
const leftWords: Record<PartName, (rows: number, servers: number) => [title: string, words: string]> = {
  hypervisors: (rows, servers) => [
    `${count(rows, 'hypervisor')} ${rows === 1 ? 'goes' : 'go'} nowhere yet`,
    `${waiting(rows, servers)} Choose a location, or leave them out.`,
  ],
  packages: (rows, servers) => [
    `${count(rows, 'package')} ${rows === 1 ? 'has' : 'have'} no counterpart`,
    `${waiting(rows, servers)} Choose one of yours, or make one like it.`,
  ],
  ranges: (rows, servers) => [
    `${count(rows, 'address range')} ${rows === 1 ? 'is' : 'are'} not decided`,
    `${waiting(rows, servers)} ${rows === 1 ? 'Is it' : 'Are they'} routed to your nodes?`,
  ],
  owners: (rows, servers) => [
    `${count(rows, 'owner')} ${rows === 1 ? 'needs' : 'need'} a decision`,
    `${waiting(rows, servers)} Servers only join an account that you choose.`,
  ],
}

export function LeftToDecide({ of }: { of: Import }) {
  const { left } = of
  const parts = order.filter((part) => left[part].rows > 0)
  const places = parts.length + Number(left.conflicts > 0)
  return (
    <Section
      id="left"
      title="Left to decide"
      count={places ? `${count(left.decisions + left.conflicts, 'point')} in ${count(places, 'place')}` : undefined}
      flush
    >
      {places ? (
        <ul class="rows wrap">
          {parts.map((part, i) => (
            <Point icon={icons[part]} words={leftWords[part](left[part].rows, left[part].servers)}>
              <Link
                class={i ? 'btn s' : 'btn s pri'}
                to={pages[part]}
                params={{ id: of.id }}
                aria-label={`Decide ${part}`}
                {...(part === 'owners' && { query: { undecided: 'true' } })}
              >
                Decide
              </Link>
            </Point>
          ))}
          {left.conflicts > 0 && (
            <Point
              icon="warning"
              words={[
                `Something stands against ${count(left.conflicts, 'server')}`,
                'Addresses or billing numbers are in use here or twice there, or a reseller’s quota is exceeded.',
              ]}
            >
              <Link
                class="btn s"
                to="/admin/imports/{id}/servers"
                params={{ id: of.id }}
                query={{ conflict: 'true' }}
                aria-label="Show these servers"
              >
                Show
              </Link>
            </Point>
          )}
        </ul>
      ) : (
        <Empty>Everything is decided. You can change any of it as long as no server has moved.</Empty>
      )}
    </Section>
  )
}

type PointProps = { icon: IconName; words: readonly [string, ComponentChildren]; children: ComponentChildren }
const Point = ({ icon, words: [title, words], children }: PointProps) => (
  <li>
    <Icon name={icon} class="warn" />
    <div class="grow">
      <b>{title}</b>
      <small>{words}</small>
    </div>
    {children}
  </li>
)

const choiceWords: Record<PartName, Readonly<Record<string, string>>> = {
  packages: { own: 'become yours', like: 'made like the source', leave_out: 'left out' },
  ranges: {
    keep: 'keep their addresses',
    new: 'get new addresses',
    pool: 'part of your pools',
    leave_out: 'left out',
  },
  hypervisors: { copy: 'copied', adopt: 'adopted where they stand', leave_out: 'left out' },
  owners: {
    create: 'new customers',
    merge: 'merged into accounts',
    separate: 'separate accounts',
    client_area: 'into client areas',
    existing: 'given to a customer',
    one_account: 'in one account',
    leave_out: 'left out',
  },
}
const nouns = { packages: 'package', ranges: 'range', hypervisors: 'hypervisor', owners: 'owner' } as const

/** `18 of 21 packages`, and how: `15 become yours, 2 left out; 12 proposed`. */
function decidedOf(part: PartName, { choices }: Mapping[PartName]) {
  const sum = (rows: typeof choices) => rows.reduce((n, one) => n + one.rows, 0)
  const made = choices.filter(({ choice }) => choice !== null)
  const [total, decided, proposed] = [sum(choices), sum(made), sum(made.filter(({ isProposed }) => isProposed))]
  const words = Object.entries(choiceWords[part]).flatMap(([choice, said]) => {
    const n = sum(made.filter((one) => one.choice === choice))
    return n ? [`${n.toLocaleString('en')} ${said}`] : []
  })
  return {
    total,
    decided,
    title:
      decided === total
        ? `${total > 1 ? 'All ' : ''}${count(total, nouns[part])}`
        : `${decided} of ${count(total, nouns[part])}`,
    words: list(words) + (proposed ? `; ${proposed === decided ? 'all' : proposed.toLocaleString('en')} proposed` : ''),
  }
}

const idWords = {
  none: 'stays empty',
  billing_id: 'from the billing id there',
  source_id: 'from the id there',
} as const
/** Which id of the other panel becomes which here. */
export const billingWords = ({ externalId, billingServiceId, billingProductId }: Mapping['billing']) =>
  [
    ['externalId', externalId],
    ['billingServiceId', billingServiceId],
    ['billingProductId', billingProductId],
  ]
    .map(([field, from]) => `${field} ${idWords[from as keyof typeof idWords]}`)
    .join(', ')

export const Decided = ({ of, mapping }: { of: Import; mapping: Mapping }) => (
  <Section id="decided" title="Decided" flush>
    <ul class="rows wrap">
      {order.map((part) => {
        const { total, decided, title, words } = decidedOf(part, mapping[part])
        return (
          total > 0 && (
            <li>
              <Icon name={decided === total ? 'check' : 'info'} class={decided === total ? 'ok' : 'muted'} />
              <div class="grow">
                <b>{title}</b>
                <small>{words || 'Nothing is decided yet'}</small>
              </div>
              <Link to={pages[part]} params={{ id: of.id }} aria-label={`Change ${part}`}>
                Change
              </Link>
            </li>
          )
        )
      })}
      <li>
        <Icon name="check" class="ok" />
        <div class="grow">
          <b>Billing numbers</b>
          <small>{billingWords(mapping.billing)}</small>
        </div>
        <Link to="/admin/imports/{id}/billing" params={{ id: of.id }} aria-label="Change billing numbers">
          Change
        </Link>
      </li>
    </ul>
  </Section>
)

type Hypervisor = Hypervisors['data'][number]
const ways = { copy: 'Copy', adopt: 'Adopt', leave_out: 'Left out' } as const
const placeWords = ({ choice, goesTo, node }: Hypervisor) =>
  choice === 'copy' ? (goesTo?.name ?? '–') : choice === 'adopt' ? `stays, is node ${node?.name ?? ''}` : '–'

export const Hypervisors = ({ of, hypervisors }: { of: Import; hypervisors: Hypervisors }) => (
  <Section
    id="hypervisors"
    title="Hypervisors"
    count="matched by address, never by name"
    flush
    actions={
      hypervisors.nextCursor !== null && (
        <Link to="/admin/imports/{id}/locations" params={{ id: of.id }}>
          {`All ${hypervisors.total}`}
        </Link>
      )
    }
  >
    <Table label="Hypervisors" rows={hypervisors.data} columns={columnsFor(of)} idOf={(one) => `h-${one.sourceId}`} />
  </Section>
)
const columnsFor = (of: Import): Column<Hypervisor>[] => [
  {
    title: 'Hypervisor',
    kind: 'name',
    width: 32,
    cell: ({ sourceId, name, address }) => (
      <>
        <Link to="/admin/imports/{id}/servers" params={{ id: of.id }} query={{ hypervisorId: sourceId }}>
          {name}
        </Link>
        <small class="mono">{address}</small>
      </>
    ),
  },
  {
    title: 'Way',
    kind: 'state',
    width: 20,
    cell: ({ choice }) =>
      choice === null ? (
        <State tone="warn" shape="wait">
          Undecided
        </State>
      ) : (
        <State tone={choice === 'leave_out' ? 'idle' : 'ok'} shape={choice === 'leave_out' ? 'fail' : 'tick'}>
          {ways[choice]}
        </State>
      ),
  },
  { title: 'Goes to', kind: 'a', width: 28, cell: placeWords },
  { title: 'Servers', kind: 'b', num: true, width: 20, cell: ({ servers }) => count(servers, 'server') },
]
