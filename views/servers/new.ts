// The whole order on one page. Choices are the address; each redraws what the others leave possible, with the reason.
import { listCustomers } from '../../src/accounts/customers.ts'
import { listOfferedImages } from '../../src/images/images.ts'
import { type Html, html } from '../../src/kernel/web/html.ts'
import { type Answers, type At, ifAllowed, page, reading } from '../../src/kernel/web/page.ts'
import { listNodes } from '../../src/nodes/nodes.ts'
import { listPackages } from '../../src/packages/packages.ts'
import { createServer } from '../../src/servers/create.ts'
import { callForm } from '../parts/act.ts'
import { card, empty, inside, kv } from '../parts/card.ts'
import { field, type Option, radios, select } from '../parts/field.ts'
import { head } from '../parts/head.ts'
import { count, gb, mb, size, traffic } from '../parts/words.ts'
import { accessFields, imageOptions } from './access.ts'
import { type Location, locationHindrance, type Node, nodeHindrance, type Package } from './fit.ts'
import { noImages, rootPassword } from './show.ts'

const CUSTOMERS_SHOWN = 6

const reads = {
  customers: reading(listCustomers, ({ query }) => ({
    query: { limit: String(CUSTOMERS_SHOWN), ...(query['owner'] ? { q: query['owner'] } : {}) },
  })),
  offer: reading(listPackages, () => ({ query: { limit: '200' } })),
  images: reading(listOfferedImages, () => ({ query: { limit: '200' } })),
  nodes: ifAllowed(listNodes, () => ({ query: { limit: '200' } })),
}
type Data = Answers<typeof reads> & { at: At }
type Choice = {
  customer: Data['customers']['data'][number] | undefined
  what: Package | undefined
  where: Location | undefined
  image: string | undefined
  images: Option[]
  nodes: readonly Node[] | undefined
}

export const newServerPage = page({
  path: '/admin/servers/new',
  reads,
  title: 'Create server',
  nav: 'servers',
  view: (data) =>
    html`${head({ title: 'Create server', trail: [['Servers', '/admin/servers']] })}${data.at.may(createServer) ? form(data, chosen(data)) : card({ id: 'no', title: 'Not allowed' }, empty('Your role does not include creating servers.'))}`,
})

/** What the address says, and the first that can work where it says nothing. */
function chosen({ customers, offer, images, nodes, at: { query } }: Data): Choice {
  const customer = customers.data.find((c) => c.id === query['ownerId'] && !c.lockedAt)
  const onSale = offer.data.filter((p) => !p.archived)
  const what =
    onSale.find((p) => p.id === query['packageId']) ??
    onSale.find((p) => offer.locations.some((l) => !locationHindrance(l, p, nodes?.data))) ??
    onSale[0]
  const open = offer.locations.filter((l) => !locationHindrance(l, what, nodes?.data))
  const where = open.find((l) => l.id === query['nodeGroupId']) ?? open[0]
  const options = imageOptions(images.data, what?.diskGb)
  const possible = options.filter((o) => !o.why)
  const image = query['imageId'] === '' ? undefined : (possible.find((o) => o.value === query['imageId']) ?? possible[0])?.value
  return { customer, what, where, image, images: options, nodes: nodes?.data }
}

const form = (data: Data, choice: Choice): Html =>
  callForm(
    createServer,
    {},
    { name: 'order', redraws: true, done: 'Order accepted', leadsTo: '/admin/servers/{serverId}', secret: rootPassword('the new server') },
    html`
    <div class="steps">
      ${card({ id: 'owner', title: 'Customer' }, inside(owner(data, choice)))}
      ${card({ id: 'package', title: 'Package' }, inside(packages(data, choice)))}
      ${card({ id: 'place', title: 'Location' }, inside(places(data, choice)))}
      ${card({ id: 'system', title: 'Operating system' }, inside(html`${radios('new', 'imageId', { quiet: true, label: 'Image', value: choice.image ?? '', options: [...choice.images, { value: '', label: 'None yet', hint: 'It waits until its owner or you set it up.' }] })}${!choice.images.length && noImages}`))}
      ${
        choice.image &&
        card(
          { id: 'access', title: 'Name and access' },
          inside(html`
        ${field('new', 'hostname', { label: 'Hostname', required: true, mono: true, hint: 'Letters, numbers and hyphens, for example web01 or web01.example.com' })}
        ${field('new', 'name', { label: 'Name', hint: 'What lists show. Without one, the hostname.' })}
        ${accessFields('new', choice.customer?.id, data.at.query['access.mode'])}`),
        )
      }
    </div>
    ${summary(choice)}`,
  )

function owner({ customers, at }: Data, { customer }: Choice): Html {
  const options = customers.data.map(
    (c): Option => ({
      value: c.id,
      label: c.name,
      hint: html`${c.email}${c.organization && html` · ${c.organization}`} `,
      why: c.lockedAt ? 'Locked.' : undefined,
    }),
  )
  const more = customers.total - customers.data.length
  return html`
    <div class="f"><label for="new-owner">Find customer</label><input id="new-owner" type="search" data-ask="owner" value="${at.query['owner'] ?? ''}" placeholder="Name, organization or e-mail" autocomplete="off"></div>
    ${radios('new', 'ownerId', { quiet: true, label: 'Customer', value: customer?.id, options, empty: at.query['owner'] ? html`<p class="muted">No customer fits “${at.query['owner']}”.</p>` : html`<p class="muted">There is no customer yet. <a href="/admin/customers">Add one</a> first.</p>` })}
    ${more > 0 && html`<p class="muted">${count(more, 'more customer', 'more customers')}: search to find ${more === 1 ? 'it' : 'them'}.</p>`}`
}

function packages({ offer }: Data, { what }: Choice): Html {
  const options = offer.data.map(
    (p): Option => ({
      value: p.id,
      label: p.name,
      hint: html`${size(p)}<br>${p.ipv4 ? count(p.ipv4, 'IPv4 address', 'IPv4 addresses') : 'No IPv4'}${p.ipv6Prefix && ` · IPv6 /${p.ipv6Prefix}`}${p.trafficGb && ` · ${traffic(p.trafficGb)} traffic`} `,
      why: p.archived ? 'Archived.' : undefined,
    }),
  )
  return radios('new', 'packageId', {
    quiet: true,
    label: 'Package',
    value: what?.id,
    options,
    empty: html`<p class="muted">There is no package yet. <a href="/admin/packages">Add one</a> first.</p>`,
  })
}

function places({ offer, at }: Data, { what, where, nodes }: Choice): Html {
  const options = offer.locations.map(
    (l): Option => ({
      value: l.id,
      label: l.name,
      hint:
        l.nodes > 0 &&
        html`${mb(Math.max(0, l.memoryMb - l.heldMemoryMb))} memory, ${gb(Math.max(0, l.diskGb - l.heldDiskGb))} disk and ${count(l.freeIpv4, 'IPv4 address', 'IPv4 addresses')} free. `,
      why: locationHindrance(l, what, nodes),
    }),
  )
  const here = nodes?.filter((n) => n.location.id === where?.id)
  return html`${radios('new', 'nodeGroupId', { quiet: true, label: 'Location', value: where?.id, options, empty: html`<p class="muted">There is no location yet. <a href="/admin/node-groups">Add one</a> first.</p>` })}
    ${here && here.length > 0 && select('new', 'nodeId', { label: 'Node', nullable: true, value: at.query['nodeId'], options: [{ value: '', label: where?.placement === 'fill' ? 'Automatic: the fullest that fits' : 'Automatic: the one with most room' }, ...here.map((n) => ({ value: n.id, label: n.name, why: nodeHindrance(n, what) }))] })}`
}

/** Stays in view, and says what is missing. */
function summary({ customer, what, where, image, images }: Choice): Html {
  const missing = [!customer && 'a customer', !what && 'a package', !where && 'a location with room'].filter((m): m is string => !!m)
  return html`<aside>${card(
    { id: 'summary', title: 'Summary' },
    inside(html`
    ${kv([
      ['Customer', customer?.name ?? html`<span class="muted">Not chosen</span>`],
      ['Package', what ? html`${what.name}<br><small class="muted">${size(what)}</small>` : html`<span class="muted">Not chosen</span>`],
      ['Location', where?.name ?? html`<span class="muted">None with room</span>`],
      ['Image', images.find((i) => i.value === image)?.label ?? 'None yet'],
    ])}
    ${missing.length ? html`<button type="button" class="btn pri" aria-disabled="true" data-why="Choose ${missing.join(' and ')} first.">Create server</button><p class="muted">Choose ${missing.join(' and ')} first.</p>` : html`<button class="btn pri">Create server</button>`}`),
  )}</aside>`
}
