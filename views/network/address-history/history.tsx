// The holdings of addresses as a table, with the times between them in which nobody had one.

import type { Answers, At } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import type { listAddressHistory } from '../../../src/network/address-history/show.ts'
import { Link } from '../../components/link.tsx'
import { State } from '../../components/state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { dayOf } from '../../components/time.tsx'
import { wordsOf } from '../../platform/audit/words.ts'

export type Holding = Answers<{ h: typeof listAddressHistory }>['h']['data'][number]

/** `2026-11-18` and `14:05` of the form are one moment, in UTC. */
export const momentOf = ({ date, time }: Readonly<Record<string, string | undefined>>) =>
  date && /^\d{4}-\d{2}-\d{2}$/.test(date) && /^\d{2}:\d{2}$/.test(time || '00:00')
    ? `${date}T${time || '00:00'}:00Z`
    : undefined

/** The server, or the floating address where it points to none. */
export const holderOf = ({ server, floatingIp }: Holding) => server?.hostname ?? floatingIp?.name ?? 'nothing'

export const ServerLink = ({ of: s }: { of: NonNullable<Holding['server']> }) =>
  s.kind === 'server' ? (
    <Link to="/admin/servers/{id}" params={{ id: s.id }}>
      {s.hostname}
    </Link>
  ) : (
    <Link to="/admin/gpu-instances/{id}" params={{ id: s.id }}>
      {s.hostname}
    </Link>
  )

export const OwnerLink = ({ of: { owner } }: { of: Holding }) =>
  owner.kind === 'customer' ? (
    <Link to="/admin/customers/{id}" params={{ id: owner.id }}>
      {owner.name}
    </Link>
  ) : owner.kind === 'reseller' ? (
    <Link to="/admin/resellers/{id}" params={{ id: owner.id }}>
      {owner.name}
    </Link>
  ) : (
    owner.name
  )

/** A line of the table: a holding, or a rest after one. */
type Line = { holding: Holding; rests?: { from: string; to: string } }
/** Newest first: the rest after a holding stands above it. */
const linesOf = (holdings: readonly Holding[]): Line[] =>
  holdings.flatMap((holding) => {
    const { to, restedUntil } = holding
    return to !== null && restedUntil !== null
      ? [{ holding, rests: { from: to, to: restedUntil } }, { holding }]
      : [{ holding }]
  })

/** `14 Mar 2026` and `08:02`, in UTC as abuse reports have them. */
const Stamp = ({ iso }: { iso: string }) => (
  <>
    {dayOf(iso)}
    <small>{iso.slice(11, 16)}</small>
  </>
)

/** An operation by what it did, a job by its title. */
function causeWords(at: At, action: string): string {
  return at.registry.jobs.find(({ kind }) => kind === action)?.title ?? wordsOf(at, action, null)
}

const Cause = ({ of }: { of: NonNullable<Holding['began']> }) => (
  <>
    {causeWords(useAt(), of.action)} by {of.by}
    {of.jobId && (
      <>
        {' · '}
        <Link to="/admin/jobs/{jobId}" params={{ jobId: of.jobId }}>
          Job
        </Link>
      </>
    )}
  </>
)

const kinds = { primary: 'Primary', extra: 'Extra', floating: 'Floating' } as const
const textOf = ({ address, prefixLength, version }: Holding) => (version === 4 ? address : `${address}/${prefixLength}`)

const Holder = ({ of: { holding: h, rests } }: { of: Line }) =>
  rests ? (
    <>
      <span class="muted">Nobody</span>
      <small>a freed address rests</small>
    </>
  ) : (
    <>
      {h.server ? <ServerLink of={h.server} /> : holderOf(h)}
      {h.server?.terminatedAt && <span class="muted"> terminated</span>}
      {h.floatingIp && h.server && <small>floating address {h.floatingIp.name}</small>}
      {h.began && (
        <small>
          <Cause of={h.began} />
        </small>
      )}
    </>
  )

const Kind = ({ of: { holding: h, rests } }: { of: Line }) =>
  rests ? (
    <State tone="warn" shape="wait">
      Resting
    </State>
  ) : h.to === null ? (
    <State tone="ok" shape="run">
      {kinds[h.kind]}
    </State>
  ) : (
    <State tone="idle" shape="stop">
      {kinds[h.kind]}
    </State>
  )

const columns: readonly Column<Line>[] = [
  { title: 'Held by', kind: 'name', width: 30, cell: (l) => <Holder of={l} /> },
  { title: 'Kind', kind: 'state', width: 16, cell: (l) => <Kind of={l} /> },
  {
    title: 'Owner',
    kind: 'addr',
    width: 16,
    cell: (l) => (l.rests ? <span class="muted">–</span> : <OwnerLink of={l.holding} />),
  },
  {
    title: 'From',
    width: 19,
    cell: ({ holding: h, rests }) => (
      <>
        <Stamp iso={rests?.from ?? h.from} />
        {!rests && !h.fromKnown && <small>or before</small>}
      </>
    ),
  },
  {
    title: 'To',
    width: 19,
    cell: ({ holding: h, rests }) => {
      const to = rests ? rests.to : h.to
      return to === null ? 'now' : <Stamp iso={to} />
    },
  },
]

/** `ofPool`: of several addresses, each of which is said and leads to its own history. */
export const History = ({ holdings, ofPool }: { holdings: readonly Holding[]; ofPool?: boolean }) => (
  <Table
    label="History"
    rows={ofPool ? holdings.map((holding): Line => ({ holding })) : linesOf(holdings)}
    columns={ofPool ? [addressColumn, ...columns.filter(({ title }) => title !== 'Kind')] : columns}
  />
)

const addressColumn: Column<Line> = {
  title: 'Address',
  kind: 'state',
  width: 22,
  cell: ({ holding: h }) => (
    <Link class="mono" to="/admin/addresses/{address}" params={{ address: h.address }}>
      {textOf(h)}
    </Link>
  ),
}
