// The servers of whoever signed in, own and shared ones.

import { listServers } from '../../../src/compute/servers/list.ts'
import { powerServer } from '../../../src/compute/servers/power.ts'
import { rightsWith } from '../../../src/compute/workloads/access.ts'
import { mayCallOn } from '../../../src/kernel/api/operation.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page, reading } from '../../../src/kernel/web/page.ts'
import { inOwnArea } from '../../components/area.ts'
import { empty } from '../../components/card.ts'
import { head } from '../../components/head.ts'
import { icon } from '../../components/icon.ts'
import { live } from '../../components/live.ts'
import { serverStates } from '../../components/state.ts'
import { filterChoice, filters, filterText, pager } from '../../components/table.ts'
import { count } from '../../components/words.ts'
import { serverTable } from './list.ts'
import { powerButton, powerFaces, quickPower } from './power.ts'

type Server = Answers<{ servers: typeof listServers }>['servers']['data'][number]

/** What may be ticked at once. */
const MOST_TICKED = 50

export const ownServersPage = page({
  path: '/servers',
  elsewhere: inOwnArea,
  reads: { servers: reading(listServers, ({ query }) => ({ query: { ...query, limit: String(MOST_TICKED) } })) },
  title: 'Servers',
  nav: 'servers',
  view: ({ servers, at }) => html`
    ${head({ title: 'Servers' })}
    <section class="card" aria-label="Servers">
      ${filters(
        at,
        html`${filterText(at, 'q', 'Search servers', 'Name or address')}${filterChoice(
          at,
          'status',
          'State',
          Object.entries(serverStates).filter(([status]) => status !== 'terminated'),
        )}`,
        count(servers.total, 'server'),
      )}
      ${servers.data.some((s) => mayPower(at, s)) && together()}
      ${live(at, 'list', 4, servers.data.length ? ownServerTable(servers.data, at, { ticks: true }) : nothing(at), '')}
      ${pager(at, servers)}
    </section>`,
})

const nothing = (at: At): Html =>
  Object.keys(at.query).length
    ? empty('No server matches these filters.', html`<a class="btn" href="${at.path}">Clear filters</a>`)
    : empty('You have no server yet. Your provider orders servers for you; they appear here automatically.')

function mayPower(at: At, s: Server): boolean {
  const rights = rightsWith(s.access)
  return at.may(powerServer) && (!rights || mayCallOn(powerServer, at.actor, rights))
}

export const ownServerTable = (servers: readonly Server[], at: At, { ticks = false } = {}): Html =>
  serverTable(servers, '', {
    owner: false,
    node: false,
    ...(ticks &&
      servers.some((s) => mayPower(at, s)) && {
        tick: (s: Server) =>
          html`<label class="tickbox">${mayPower(at, s) && html`<input type="checkbox" data-tick aria-label="Choose ${s.name}" autocomplete="off">`}</label>`,
      }),
    actions: (s) =>
      mayPower(at, s)
        ? html`<div class="bar">${quickPower.map((action) => powerButton(at, s, action, { inRow: true }))}</div>`
        : html``,
  })

/** For every row that is ticked, what its own button does: each server answers for itself, and one message says how it went. */
const together = (): Html =>
  html`<div class="bar chosen" role="group" aria-label="Chosen servers"><label class="bar"><input type="checkbox" data-tick-all autocomplete="off"> All on this page</label><div class="acts">${quickPower.map((action) => html`<button type="button" class="btn" data-press="${action}">${icon(powerFaces[action].icon)}<span>${powerFaces[action].label}</span><span class="sr"> chosen</span></button>`)}</div></div>`
