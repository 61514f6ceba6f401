import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { createResellerServer, createServer } from '../../../src/compute/servers/create.ts'
import { listAllServers, listServers } from '../../../src/compute/servers/list.ts'
import { listCustomers } from '../../../src/identity/accounts/customers.ts'
import { getResellerAccount } from '../../../src/identity/resellers/own.ts'
import { type Content, type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, allIfAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import type { Area } from '../../components/area.ts'
import { empty } from '../../components/card.ts'
import { head } from '../../components/head.ts'
import { icon } from '../../components/icon.ts'
import { live } from '../../components/live.ts'
import { serverState, serverStates } from '../../components/state.ts'
import { filterChoice, filters, filterText, pager, someOnly, table } from '../../components/table.ts'
import { count, size } from '../../components/words.ts'

type Listed = Answers<{ servers: typeof listAllServers }>['servers']
type Server = Listed['data'][number]

const orders = { '/admin': createServer, '/reseller': createResellerServer } as const
type Selling = keyof typeof orders
const newButton = (at: At, area: Selling) =>
  at.may(orders[area]) &&
  // The page of the order has to show whom it can be for.
  (area !== '/admin' || at.may(listCustomers)) &&
  html`<a class="btn pri" href="${area}/servers/new">${icon('plus')}Create server</a>`

export const serversPage = page({
  path: '/admin/servers',
  reads: { servers: listAllServers, offer: allIfAllowed(listPackages) },
  title: 'Servers',
  nav: 'servers',
  view: ({ servers, offer, at }) => view({ servers, packages: offer?.data, locations: offer?.locations, at }, '/admin'),
})

export const resellerServersPage = page({
  path: '/reseller/servers',
  reads: { servers: listServers, account: reading(getResellerAccount, () => ({})) },
  title: 'Servers',
  nav: 'servers',
  view: ({ servers, account, at }) =>
    view({ servers, packages: account.packages, locations: account.locations, at }, '/reseller'),
})

type Named = readonly { id: string; name: string }[] | undefined
type Data = { servers: Listed; packages: Named; locations: Named; at: At }
const chosenBy = (at: At, name: string, label: string, things: Named) =>
  things &&
  filterChoice(
    at,
    name,
    label,
    things.map(({ id, name }) => [id, name] as const),
  )
/** What came with a link and has no field of its own. */
const kept = (at: At, name: string) =>
  at.query[name] && html`<input type="hidden" name="${name}" value="${at.query[name]}">`

/** What a link narrowed the list to, by name where a row tells it. */
const narrowed = (first: Server | undefined, { query }: At): Content =>
  query['ownerId']
    ? html`Only servers of <strong>${first?.owner.name ?? query['ownerId']}</strong>.`
    : query['nodeId']
      ? html`Only servers on <strong>${first?.node?.name ?? query['nodeId']}</strong>.`
      : query['resellerId'] && 'Only servers of one reseller and its customers.'

const view = ({ servers, packages, locations, at }: Data, area: Selling): Html => html`
  ${head({ title: 'Servers', actions: newButton(at, area), sub: someOnly(at, narrowed(servers.data[0], at)) })}
  <section class="card" aria-label="Servers">
    ${filters(
      at,
      html`${filterText(at, 'q', 'Search servers', 'Name, address, owner or srv_…')}${filterChoice(at, 'status', 'State', Object.entries(serverStates))}${chosenBy(at, 'locationId', 'Location', locations)}${chosenBy(at, 'packageId', 'Package', packages)}${['nodeId', 'ownerId', 'resellerId'].map((name) => kept(at, name))}`,
      count(servers.total, 'server'),
    )}
    ${live(at, 'list', 4, servers.data.length ? serverTable(servers.data, area) : nothing(at, area), '')}
    ${pager(at, servers)}
  </section>`

const nothing = (at: At, area: Selling): Html =>
  Object.keys(at.query).length
    ? empty('No server matches these filters.', html`<a class="btn" href="${at.path}">Clear filters</a>`)
    : empty(
        area === '/admin'
          ? 'A server belongs to a customer and stands on a node with room for it.'
          : 'A server belongs to you or to one of your customers.',
        newButton(at, area),
      )

type Shown = { owner?: boolean; place?: boolean; node?: boolean; tick?(s: Server): Html; actions?(s: Server): Html }

/** Who shared a server is no customer of whom it is shared with. */
export const ownerLink = (s: Pick<Server, 'owner' | 'access'>, area: Area): Content =>
  s.access === 'own' ? html`<a href="${area}/customers/${s.owner.id}">${s.owner.name}</a>` : s.owner.name

const naming = (s: Server, area: Area): Html =>
  html`<a href="${area}/servers/${s.id}">${s.name}</a>${s.name !== s.hostname && html`<small>${s.hostname}</small>`}<small>${s.image?.name ?? 'No image yet'}</small>${s.access !== 'own' && html`<small>Shared by ${s.owner.name}</small>`}`

/** Owner and node are for staff. */
export const serverTable = (
  servers: readonly Server[],
  area: Area,
  { owner = true, place = true, node = true, tick, actions }: Shown = {},
): Html =>
  table<Server>(
    'Servers',
    servers,
    [
      {
        title: 'Server',
        main: true,
        cell: (s) => (tick ? html`<div class="ticked">${tick(s)}<div>${naming(s, area)}</div></div>` : naming(s, area)),
      },
      {
        title: 'State',
        cell: (s) => html`${serverState(s)}${s.status === 'failed' && s.failure && html`<small>${s.failure}</small>`}`,
      },
      { title: 'Address', cell: (s) => html`<span class="mono">${s.ipv4 ?? s.ipv6 ?? '–'}</span>` },
      { title: 'Package', cell: (s) => html`${s.package.name}<small class="tight">${size(s)}</small>` },
      ...(owner ? [{ title: 'Owner', cell: (s: Server) => ownerLink(s, area) }] : []),
      ...(place
        ? [
            {
              title: 'Location',
              cell: (s: Server) =>
                html`${s.location.name}${node && s.node && html`<small><a href="/admin/nodes/${s.node.id}">${s.node.name}</a></small>`}`,
            },
          ]
        : []),
      ...(actions ? [{ title: 'Actions', actions: true as const, cell: actions }] : []),
    ],
    (s) => s.id,
  )
