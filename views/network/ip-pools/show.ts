import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, allIfAllowed, page, reading } from '../../../src/kernel/web/page.ts'
import {
  attachPool,
  getPool,
  listPoolAddresses,
  removePool,
  reserveAddress,
} from '../../../src/network/ip-pools/pools.ts'
import { count } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { card, copyable, empty, inside, kv, meter } from '../../html/card.ts'
import { field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pager, table } from '../../html/table.ts'
import { nodeChecks } from './list.ts'

/** A quarter of a /24: the most that can be looked over at once. */
const CELLS = 128

const reads = {
  pool: reading(getPool, ({ params }) => ({ params })),
  addresses: reading(listPoolAddresses, ({ params, query }) => ({
    params,
    query: { limit: String(CELLS), ...(query['cursor'] ? { cursor: query['cursor'] } : {}) },
  })),
  nodes: allIfAllowed(listNodes),
}
type Data = Answers<typeof reads> & { at: At }
type Address = Data['addresses']['data'][number]

export const poolPage = page({
  path: '/admin/ip-pools/{id}',
  reads,
  title: ({ pool }) => pool.name,
  nav: 'pools',
  view: (data) => html`
    ${head({ title: data.pool.name, trail: [['Address pools', '/admin/ip-pools']], sub: html`<code>${data.pool.network}</code>`, actions: actions(data) })}
    <div class="cols">${facts(data)}${chosen(data)}</div>
    ${data.pool.version === 4 ? map(data) : prefixes(data)}`,
})

function actions({ pool: p, nodes, at }: Data): Html {
  const params = { id: p.id }
  return html`${act(at, attachPool, params, 'Choose nodes', {
    title: `Nodes of ${p.name}`,
    submit: 'Save',
    done: 'Saved',
    fields: nodeChecks(
      `attach-${p.id}`,
      nodes,
      p.nodes.map((n) => n.id),
    ),
  })}
    ${act(at, removePool, params, 'Remove pool', { tone: 'bad', disabledReason: p.held > 0 && `${count(p.held, 'address', 'addresses')} of it ${p.held === 1 ? 'belongs' : 'belong'} to servers.`, title: `Remove ${p.name}?`, done: `${p.name} is removed`, leadsTo: '/admin/ip-pools', confirm: { type: p.name, keep: 'Keep pool', consequences: [`${p.network} is no longer given to servers.`, p.reserved > 0 && `${count(p.reserved, 'reservation')} ${p.reserved === 1 ? 'is' : 'are'} forgotten.`, p.nodes.length > 0 && `It is taken off ${count(p.nodes.length, 'node')}.`] } })}`
}

const facts = ({ pool: p }: Data): Html =>
  card(
    { id: 'about', title: 'Details' },
    inside(html`
    ${p.total !== null && meter('Held or reserved', p.held + p.reserved, p.total, `${(p.free ?? 0).toLocaleString('en')} of ${p.total.toLocaleString('en')} free`)}
    ${kv([
      ['Gateway', html`<code>${p.gateway}</code>`],
      ['Range', html`<code>${p.first}</code> to <code>${p.last}</code>`],
      [
        'Resolvers',
        p.resolvers.length ? p.resolvers.map((r) => html`<code>${r}</code> `) : 'None: servers cannot look up names.',
      ],
      [
        'Nodes',
        p.nodes.length
          ? p.nodes.map((n, i) => html`${i > 0 && ', '}<a href="/admin/nodes/${n.id}">${n.name}</a>`)
          : 'None: no server gets an address of it.',
      ],
      ['Held', count(p.held, 'address', 'addresses')],
      ['Reserved', count(p.reserved, 'address', 'addresses')],
      ['Id', copyable(p.id, 'id')],
    ])}`),
  )

/** The cell that was opened; its address says which, so it can be sent to somebody. */
function chosen({ addresses, at }: Data): Html {
  const a = addresses.data.find((a) => a.id === at.query['address'])
  if (!a) return html``
  const params = { id: a.id }
  return card(
    { id: 'address', title: a.address, count: words[a.state] },
    inside(html`
    ${kv([
      ['Address', copyable(`${a.address}/${a.prefixLength}`, 'address')],
      ['Server', a.workload && html`<a href="/admin/servers/${a.workload.id}">${a.workload.hostname}</a>`],
      ['Reserved for', a.reservedFor],
    ])}
    <div class="bar">${
      a.state === 'free'
        ? act(at, reserveAddress, params, 'Reserve', {
            title: `Reserve ${a.address}?`,
            done: '{address} is reserved',
            fields: field(`reserve-${a.id}`, 'reservedFor', {
              label: 'What for',
              required: true,
              hint: 'For example: switch, or moves in from another panel',
            }),
          })
        : a.state === 'reserved'
          ? act(at, reserveAddress, params, 'Free', {
              of: a.address,
              body: { reservedFor: null },
              title: `Free ${a.address}?`,
              done: '{address} is free',
              confirm: {
                keep: 'Keep it reserved',
                consequences: [`It was reserved for: ${a.reservedFor}.`, 'The next server may get it.'],
              },
            })
          : ''
    }</div>`),
  )
}

const words: Record<Address['state'], string> = { free: 'Free', held: 'Held by a server', reserved: 'Reserved' }
const said = (a: Address) =>
  `${a.address}: ${a.state === 'held' ? `held by ${a.workload?.hostname}` : a.state === 'reserved' ? `reserved for ${a.reservedFor}` : 'free'}`

function map({ addresses, at }: Data): Html {
  const link = (a: Address) =>
    `?${new URLSearchParams({ ...(at.query['cursor'] ? { cursor: at.query['cursor'] } : {}), address: a.id })}#address`
  const short = (a: Address) => `.${a.address.split('.').at(-1)}`
  const [first, last] = [addresses.data[0], addresses.data.at(-1)]
  return card(
    {
      id: 'map',
      title: 'Addresses',
      count:
        first && last && html`<span class="mono">${first.address}</span> to <span class="mono">${last.address}</span>`,
    },
    html`
    ${inside(html`<div class="legend"><span><i class="cell key"></i>Free</span><span><i class="cell held key"></i>Held by a server</span><span><i class="cell reserved key"></i>Reserved</span></div>
      <div class="map">${addresses.data.map((a) => html`<a class="cell ${a.state}" href="${link(a)}" aria-label="${said(a)}" title="${said(a)}"${a.id === at.query['address'] && html` aria-current="true"`}>${short(a)}</a>`)}</div>`)}
    ${pager({ ...at, query: at.query['cursor'] ? { cursor: at.query['cursor'] } : {} }, addresses)}`,
  )
}

/** IPv6 is more than anyone can draw: only what is held stands there. */
const prefixes = ({ addresses, at }: Data): Html =>
  card(
    { id: 'map', title: 'Prefixes held', count: addresses.total || undefined },
    html`${
      addresses.data.length
        ? table<Address>(
            'Prefixes',
            addresses.data,
            [
              { title: 'Prefix', main: true, cell: (a) => html`<code>${a.address}/${a.prefixLength}</code>` },
              { title: 'State', cell: (a) => words[a.state] },
              {
                title: 'Server',
                cell: (a) =>
                  a.workload ? html`<a href="/admin/servers/${a.workload.id}">${a.workload.hostname}</a>` : '–',
              },
            ],
            (a) => a.id,
          )
        : empty('No server has a prefix from it yet.')
    }${pager(at, addresses)}`,
  )
