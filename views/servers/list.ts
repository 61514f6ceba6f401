import { listAnnouncements } from '../../src/announcements/announcements.ts'
import { type Html, html } from '../../src/kernel/web/html.ts'
import { type Answers, type At, ifAllowed, page, reading } from '../../src/kernel/web/page.ts'
import { listPackages } from '../../src/packages/packages.ts'
import { createServer } from '../../src/servers/create.ts'
import { listAllServers, listServers } from '../../src/servers/list.ts'
import { announced } from '../announcements/banner.ts'
import { empty } from '../parts/card.ts'
import { head } from '../parts/head.ts'
import { icon } from '../parts/icon.ts'
import { live } from '../parts/live.ts'
import { serverState, serverStates } from '../parts/state.ts'
import { filterChoice, filters, filterText, pager, table } from '../parts/table.ts'
import { count, size } from '../parts/words.ts'

type Listed = Answers<{ servers: typeof listAllServers }>['servers']
type Server = Listed['data'][number]

const newButton = (at: At) => at.may(createServer) && html`<a class="btn pri" href="/admin/servers/new">${icon('plus')}Create server</a>`

export const serversPage = page({
  path: '/admin/servers',
  reads: { servers: listAllServers, offer: ifAllowed(listPackages, () => ({ query: { limit: '200' } })) },
  title: 'Servers',
  nav: 'servers',
  view: ({ servers, offer, at }) => html`
    ${head({ title: 'Servers', actions: newButton(at) })}
    <section class="card" aria-label="Servers">
      ${filters(
        at,
        html`${filterText(at, 'q', 'Search servers', 'Name, address, owner or srv_…')}${filterChoice(at, 'status', 'State', Object.entries(serverStates))}${
          offer &&
          filterChoice(
            at,
            'locationId',
            'Location',
            offer.locations.map((l) => [l.id, l.name] as const),
          )
        }${
          offer &&
          filterChoice(
            at,
            'packageId',
            'Package',
            offer.data.map((p) => [p.id, p.name] as const),
          )
        }${at.query['nodeId'] && html`<input type="hidden" name="nodeId" value="${at.query['nodeId']}">`}${at.query['ownerId'] && html`<input type="hidden" name="ownerId" value="${at.query['ownerId']}">`}`,
        count(servers.total, 'server'),
      )}
      ${live(at, 'list', 4, servers.data.length ? serverTable(servers.data, '/admin/servers/') : nothing(at), '')}
      ${pager(at, servers)}
    </section>`,
})

const nothing = (at: At): Html =>
  Object.keys(at.query).length
    ? empty('No server fits these filters.', html`<a class="btn" href="${at.path}">Clear filters</a>`)
    : empty('A server belongs to a customer and stands on a node with room for it.', newButton(at))

/** `base` is where a row leads; owner and node stand there for staff. */
export const serverTable = (servers: readonly Server[], base: string, { owner = true, place = true, node = true } = {}): Html =>
  table<Server>(
    'Servers',
    servers,
    [
      {
        title: 'Server',
        main: true,
        cell: (s) =>
          html`<a href="${base}${s.id}">${s.name}</a>${s.name !== s.hostname && html`<small>${s.hostname}</small>`}<small>${s.image?.name ?? 'No image yet'}</small>${s.access !== 'own' && html`<small>Shared by ${s.owner.name}</small>`}`,
      },
      { title: 'State', cell: (s) => html`${serverState(s)}${s.status === 'failed' && s.failure && html`<small>${s.failure}</small>`}` },
      { title: 'Address', cell: (s) => html`<span class="mono">${s.ipv4 ?? s.ipv6 ?? '–'}</span>` },
      { title: 'Package', cell: (s) => html`${s.package.name}<small class="tight">${size(s)}</small>` },
      ...(owner ? [{ title: 'Owner', cell: (s: Server) => html`<a href="/admin/customers/${s.owner.id}">${s.owner.name}</a>` }] : []),
      ...(place
        ? [
            {
              title: 'Location',
              cell: (s: Server) =>
                html`${s.location.name}${node && s.node && html`<small><a href="/admin/nodes/${s.node.id}">${s.node.name}</a></small>`}`,
            },
          ]
        : []),
    ],
    (s) => s.id,
  )

export const ownServersPage = page({
  path: '/',
  reads: { servers: listServers, announcements: reading(listAnnouncements, () => ({})) },
  title: 'Servers',
  nav: 'servers',
  view: ({ servers, announcements, at }) => html`
    ${head({ title: 'Servers', actions: at.actor.kind === 'staff' && html`<a class="btn" href="/admin">Staff area</a>` })}
    ${announced(announcements)}
    <section class="card" aria-label="Servers">
      ${filters(at, filterText(at, 'q', 'Search servers', 'Name or address'), count(servers.total, 'server'))}
      ${live(at, 'list', 4, servers.data.length ? serverTable(servers.data, '/servers/', { owner: false, node: false }) : empty(Object.keys(at.query).length ? 'No server fits this search.' : 'You have no server yet. Your provider orders them for you.'), '')}
      ${pager(at, servers)}
    </section>`,
})
