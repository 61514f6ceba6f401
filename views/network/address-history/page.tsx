// An address: who has it now, who had it at a time, and everybody who had it.

import type { AssetName } from '../../../public/assets.ts'
import { minuteText } from '../../../src/kernel/db/clock.ts'
import { type Answers, ifNamed, page, reading } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { exportAddressHistory, stateAddress } from '../../../src/network/address-history/files.ts'
import { getAddress, listAddressHistory } from '../../../src/network/address-history/show.ts'
import { createMessage } from '../../../src/platform/messages/messages.ts'
import { pathOf } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Download } from '../../components/list.tsx'
import { Copyable, Empty, Facts, Section } from '../../components/section.tsx'
import { State } from '../../components/state.tsx'
import { Pager } from '../../components/table.tsx'
import { Exact } from '../../components/time.tsx'
import { EndRest } from '../ip-pools/quarantine.tsx'
import { Retirement } from '../ip-pools/retirement.tsx'
import { History, type Holding, holderOf, momentOf, OwnerLink, ServerLink } from './history.tsx'
import { Life } from './life.tsx'

const MOST_SHOWN = 50
const reads = {
  now: reading(getAddress, ({ params }) => ({ params })),
  history: reading(listAddressHistory, ({ params, query }) => ({
    params,
    query: { limit: String(MOST_SHOWN), ...(query['cursor'] ? { cursor: query['cursor'] } : {}) },
  })),
  atTime: ifNamed(listAddressHistory, ({ params, query }) => {
    const at = momentOf(query)
    return at === undefined ? undefined : { params, query: { at } }
  }),
}
type Data = Answers<typeof reads>
type Row = Data['now']['rows'][number]

export const addressPage = page({
  path: '/admin/addresses/{address}',
  reads,
  title: ({ now }) => now.address,
  nav: 'pools',
  files: ['addresses.css'] satisfies AssetName[],
  view: ({ now, history, atTime }) => {
    const [row] = now.rows
    const holder = history.data.find(({ to }) => to === null)
    return (
      <>
        <Head
          title={<span class="mono">{now.address}</span>}
          trail={[
            ['Address pools', '/admin/ip-pools'],
            ...now.rows.slice(0, 1).map(({ pool }) => [pool.name, `/admin/ip-pools/${pool.id}`] as const),
          ]}
          state={<Stand row={row} />}
          sub={now.rows.map((one) => (
            <span>
              {one.pool.name}: {textOf(one)}, gateway <span class="mono">{one.pool.gateway}</span>
            </span>
          ))}
          actions={
            <>
              {history.data.length > 0 && (
                <Download op={exportAddressHistory} params={{ address: now.address }} query={{}} label="CSV" />
              )}
              {row?.state === 'resting' && <EndRest of={row} />}
              {row && <Retirement of={row} />}
            </>
          }
        />
        <div class="split">
          <div>
            <AtTime atTime={atTime} />
            <Section id="history" title="History" count={`kept for ${now.historyDays} days, times in UTC`}>
              {history.data.length ? (
                <Life holdings={history.data} />
              ) : (
                <Empty>Nobody had this address since its history is kept.</Empty>
              )}
            </Section>
            {history.data.length > 0 && (
              <div class="flush">
                <History holdings={history.data} />
                <Pager of={history} />
              </div>
            )}
          </div>
          <div>
            <Section id="now" title="Now">
              <Now row={row} holder={holder} />
            </Section>
            <Report address={now.address} holding={atTime?.data[0] ?? holder} />
          </div>
        </div>
      </>
    )
  },
})

const textOf = ({ address, prefixLength }: Row) => <span class="mono">{`${address}/${prefixLength}`}</span>

const states = {
  held: ['ok', 'run', 'In use'],
  free: ['idle', 'stop', 'Free'],
  reserved: ['hold', 'hold', 'Reserved'],
  resting: ['warn', 'wait', 'Resting'],
} as const
const wordsOf = (row: Row | undefined) => (row ? states[row.state][2] : 'In no pool')
const Stand = ({ row }: { row: Row | undefined }) => {
  const [tone, shape] = row ? states[row.state] : (['idle', 'stop'] as const)
  return (
    <State tag tone={tone} shape={shape}>
      {wordsOf(row)}
    </State>
  )
}

/** A form whose answer is the address of the page, so that it can be sent to somebody. */
function AtTime({ atTime }: { atTime: Data['atTime'] }) {
  const { path, query } = useAt()
  const at = momentOf(query)
  return (
    <Section id="asked" title="Who had it at a given time">
      <form class="bar" method="get" action={path}>
        <label class="sr" for="asked-date">
          Date
        </label>
        <input id="asked-date" type="date" name="date" value={query['date']} required />
        <label class="sr" for="asked-time">
          Time in UTC
        </label>
        <input id="asked-time" type="time" name="time" value={query['time'] ?? '12:00'} />
        <span class="muted">UTC</span>
        <button type="submit" class="btn pri">
          <Icon name="search" />
          Ask
        </button>
      </form>
      {at && <Answer at={at} holdings={atTime?.data ?? []} />}
    </Section>
  )
}

const Answer = ({ at, holdings }: { at: string; holdings: readonly Holding[] }) => (
  <div class="tip" role="status">
    <Icon name="user" />
    <span>
      On {minuteText(Date.parse(at))}{' '}
      {holdings.length
        ? holdings.map((h, i) => (
            <>
              {i > 0 && '; and '}
              it belonged to <b>{holderOf(h)}</b> of <b>{h.owner.name}</b>
              {h.kind === 'floating' && h.server && `, as a floating address that pointed to ${h.server.hostname}`}
            </>
          ))
        : 'nobody had it, as far as its history goes back'}
      .
    </span>
  </div>
)

const Now = ({ row, holder }: { row: Row | undefined; holder: Holding | undefined }) => (
  <Facts
    of={[
      ['Server', holder?.server && <ServerLink of={holder.server} />],
      ['Floating address', holder?.floatingIp?.name],
      ['Owner', holder && <OwnerLink of={holder} />],
      ['Reserved for', row?.retiredFor === null && row.reservedFor],
      ['Never given out again', row?.retiredFor],
      ['Rests until', row?.restsUntil && <Exact iso={row.restsUntil} />],
      ['State', !holder && wordsOf(row)],
      ['Id', row && <Copyable text={row.id} what="id" />],
    ]}
  />
)

/** Ways to answer a report, for the moment that was asked for; without one, for now and for all. */
function Report({ address, holding }: { address: string; holding: Holding | undefined }) {
  const { query, may } = useAt()
  const at = momentOf(query)
  const statement = pathOf(stateAddress, { address }) + (at ? `?at=${encodeURIComponent(at)}` : '')
  return (
    <Section id="report" title="Answer an abuse report">
      <ul class="rows">
        {holding && holding.owner.kind !== 'staff' && may(createMessage) && (
          <li>
            <Icon name="mail" />
            <div class="grow">
              <b>Mail the owner</b>
              <small>{holding.owner.name}, with the address filled in</small>
            </div>
            <a class="btn s" href={mailTo(address, holding, at)}>
              Write…
            </a>
          </li>
        )}
        <li>
          <Icon name="book" />
          <div class="grow">
            <b>Statement</b>
            <small>{at ? 'Who had it at that time' : 'Everybody who had it'}, as text. It names the owner.</small>
          </div>
          <a class="btn s" href={statement} download>
            Download
          </a>
        </li>
      </ul>
    </Section>
  )
}
/** The page on which a message to the owner is begun. */
function mailTo(address: string, { owner, server }: Holding, at: string | undefined): string {
  const query = { accountId: owner.id, ...(server && { ids: server.id }), address, ...(at && { at }) }
  return `/admin/messages/new?${new URLSearchParams(query)}`
}
