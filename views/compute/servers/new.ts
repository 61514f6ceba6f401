// The whole order on one page. Choices are the address; each redraws what the others leave possible, with the reason.

import { listOfferedImages } from '../../../src/catalog/images/images.ts'
import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { createResellerServer, createServer } from '../../../src/compute/servers/create.ts'
import { listNodes } from '../../../src/fleet/nodes/nodes.ts'
import { listCustomers } from '../../../src/identity/accounts/customers.ts'
import { getResellerAccount, listResellerCustomers } from '../../../src/identity/resellers/own.ts'
import { type Content, type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, allIfAllowed, page, reading, readingAll } from '../../../src/kernel/web/page.ts'
import { callForm } from '../../components/act.ts'
import { card, empty, inside, kv, notice } from '../../components/card.ts'
import { field, type Option, radios, select } from '../../components/field.ts'
import { head } from '../../components/head.ts'
import { count, gb, mb, size, traffic } from '../../components/words.ts'
import { overQuota, suspendedWords } from '../../identity/reseller/terms.ts'
import { accessFields, imageOptions } from './access.ts'
import { type Location, locationHindrance, type Node, nodeHindrance, type Package } from './fit.ts'
import { noImages, noOffer, rootPassword } from './show.ts'

const CUSTOMERS_SHOWN = 6

const customersFound = ({ query }: At) => ({
  query: { limit: String(CUSTOMERS_SHOWN), ...(query['owner'] ? { q: query['owner'] } : {}) },
})
const images = readingAll(listOfferedImages)

const reads = {
  customers: reading(listCustomers, customersFound),
  offer: readingAll(listPackages),
  images,
  nodes: allIfAllowed(listNodes),
}
const resellerReads = {
  customers: reading(listResellerCustomers, customersFound),
  account: reading(getResellerAccount, () => ({})),
  images,
}

type Customers = Answers<typeof reads>['customers']
type Sold = Omit<Package, 'servers'>
type Place = { id: string; name: string }
/** What the page needs of either area. */
type Data = {
  at: At
  area: '/admin' | '/reseller'
  order: typeof createServer | typeof createResellerServer
  customers: Customers
  /** A reseller may order for itself. */
  itself?: { id: string; name: string; email: string; organization: string | null; lockedAt: string | null }
  packages: readonly Sold[]
  whyNotPackage(p: Sold): string | undefined
  places: readonly Place[]
  whyNotPlace(l: Place, p: Sold | undefined): string | undefined
  aboutPlace(l: Place): Content
  images: Answers<typeof reads>['images']
  nodePicker(chosen: Choice): Content
  /** Where there is none of something: what to do. */
  none: { customers: Content; packages: Content; places: Content; images: Content }
  disabledReason?: Content
}
type Choice = {
  customer: { id: string; name: string } | undefined
  what: Sold | undefined
  where: Place | undefined
  image: string | undefined
  images: Option[]
}

export const newServerPage = page({
  path: '/admin/servers/new',
  reads,
  title: 'Create server',
  nav: 'servers',
  view: ({ offer, nodes, ...data }) => {
    const located = new Map(offer.locations.map((l) => [l.id, l]))
    return view({
      ...data,
      area: '/admin',
      order: createServer,
      packages: offer.data,
      whyNotPackage: (p) => (p.archived ? 'Archived.' : undefined),
      places: offer.locations,
      whyNotPlace: (l, p) => locationHindrance(located.get(l.id)!, p, nodes?.data),
      aboutPlace: ({ id }) => free(located.get(id)!),
      nodePicker: ({ what, where }) => nodePicker(data.at, nodes?.data, what, located.get(where?.id ?? '')),
      none: {
        customers: html`There is no customer yet. <a href="/admin/customers">Add one</a> first.`,
        packages: html`There is no package yet. <a href="/admin/packages">Add one</a> first.`,
        places: html`There is no location yet. <a href="/admin/node-groups">Add one</a> first.`,
        images: noImages,
      },
    })
  },
})

export const resellerNewServerPage = page({
  path: '/reseller/servers/new',
  reads: resellerReads,
  title: 'Create server',
  nav: 'servers',
  view: ({ account, ...data }) =>
    view({
      ...data,
      area: '/reseller',
      order: createResellerServer,
      itself: account,
      packages: account.packages,
      whyNotPackage: (p) => overQuota(account, p),
      places: account.locations,
      whyNotPlace: (l) =>
        account.locations.find(({ id }) => id === l.id)?.open ? undefined : 'Closed for new servers.',
      aboutPlace: () => undefined,
      nodePicker: () => undefined,
      none: {
        customers: html`You have no customer yet. Order for yourself, or <a href="/reseller/customers">add one</a> first.`,
        packages: 'There is no package that you may sell yet. Ask your provider.',
        places: 'There is no location that you may sell in yet. Ask your provider.',
        images: noOffer,
      },
      ...(account.suspendedAt && { disabledReason: suspendedWords }),
    }),
})

const view = (data: Data): Html =>
  html`${head({ title: 'Create server', trail: [['Servers', `${data.area}/servers`]] })}${data.at.may(data.order) ? form(data, chosen(data)) : card({ id: 'no', title: 'Not allowed' }, empty('Your role does not include creating servers.'))}`

/** What the address says, and the first that can work where it says nothing. */
function chosen({
  customers,
  itself,
  packages,
  whyNotPackage,
  places,
  whyNotPlace,
  images,
  at: { query },
}: Data): Choice {
  const customer = [...(itself ? [itself] : []), ...customers.data].find(
    (c) => c.id === query['ownerId'] && !c.lockedAt,
  )
  const onSale = packages.filter((p) => !whyNotPackage(p))
  const what =
    onSale.find((p) => p.id === query['packageId']) ??
    onSale.find((p) => places.some((l) => !whyNotPlace(l, p))) ??
    onSale[0]
  const open = places.filter((l) => !whyNotPlace(l, what))
  const where = open.find((l) => l.id === query['nodeGroupId']) ?? open[0]
  const options = imageOptions(images.data, what?.diskGb)
  const possible = options.filter((o) => !o.why)
  const image =
    query['imageId'] === '' ? undefined : (possible.find((o) => o.value === query['imageId']) ?? possible[0])?.value
  return { customer, what, where, image, images: options }
}

const form = (data: Data, choice: Choice): Html =>
  callForm(
    data.order,
    {},
    {
      name: 'order',
      redraws: true,
      done: 'Order accepted',
      leadsTo: `${data.area}/servers/{serverId}`,
      secret: rootPassword('the new server'),
    },
    html`
    <div class="steps">
      ${data.disabledReason && html`<div class="card">${notice('warn', data.disabledReason)}</div>`}
      ${card({ id: 'owner', title: 'Customer' }, inside(owner(data, choice)))}
      ${card({ id: 'package', title: 'Package' }, inside(packages(data, choice)))}
      ${card({ id: 'place', title: 'Location' }, inside(places(data, choice)))}
      ${card({ id: 'system', title: 'Operating system' }, inside(html`${radios('new', 'imageId', { quiet: true, label: 'Image', value: choice.image ?? '', options: [...choice.images, { value: '', label: 'None yet', hint: 'It waits until its owner or you set it up.' }] })}${!choice.images.length && data.none.images}`))}
      ${
        choice.image &&
        card(
          { id: 'access', title: 'Name and access' },
          inside(html`
        ${field('new', 'hostname', { label: 'Hostname', required: true, mono: true, hint: 'Letters, numbers and hyphens, for example web01 or web01.example.com' })}
        ${field('new', 'name', { label: 'Name', hint: 'Shown in lists. Empty: the hostname.' })}
        ${accessFields('new', choice.customer?.id, data.at.query['access.mode'])}`),
        )
      }
    </div>
    ${summary(data, choice)}`,
  )

function owner({ customers, itself, none, at }: Data, { customer }: Choice): Html {
  const options = [...(itself ? [itself] : []), ...customers.data].map(
    (c): Option => ({
      value: c.id,
      label: c === itself ? `${c.name} (you)` : c.name,
      hint: html`${c.email}${c.organization && html` · ${c.organization}`} `,
      why: c.lockedAt ? 'Locked.' : undefined,
    }),
  )
  const more = customers.total - customers.data.length
  return html`
    <div class="f"><label for="new-owner">Find customer</label><input id="new-owner" type="search" data-ask="owner" value="${at.query['owner'] ?? ''}" placeholder="Name, organization or e-mail" autocomplete="off"></div>
    ${radios('new', 'ownerId', { quiet: true, label: 'Customer', value: customer?.id, options, empty: at.query['owner'] ? html`<p class="muted">No customer fits “${at.query['owner']}”.</p>` : html`<p class="muted">${none.customers}</p>` })}
    ${itself && !customers.total && html`<p class="muted">${at.query['owner'] ? html`No customer fits “${at.query['owner']}”.` : none.customers}</p>`}
    ${more > 0 && html`<p class="muted">${count(more, 'more customer', 'more customers')}: search to find ${more === 1 ? 'it' : 'them'}.</p>`}`
}

function packages({ packages, whyNotPackage, none }: Data, { what }: Choice): Html {
  const options = packages.map(
    (p): Option => ({
      value: p.id,
      label: p.name,
      hint: html`${size(p)}<br>${p.ipv4 ? count(p.ipv4, 'IPv4 address', 'IPv4 addresses') : 'No IPv4'}${p.ipv6Prefix && ` · IPv6 /${p.ipv6Prefix}`}${p.trafficGb && ` · ${traffic(p.trafficGb)} traffic`} `,
      why: whyNotPackage(p),
    }),
  )
  return radios('new', 'packageId', {
    quiet: true,
    label: 'Package',
    value: what?.id,
    options,
    empty: html`<p class="muted">${none.packages}</p>`,
  })
}

function places({ places, whyNotPlace, aboutPlace, nodePicker, none }: Data, choice: Choice): Html {
  const options = places.map(
    (l): Option => ({ value: l.id, label: l.name, hint: aboutPlace(l), why: whyNotPlace(l, choice.what) }),
  )
  return html`${radios('new', 'nodeGroupId', { quiet: true, label: 'Location', value: choice.where?.id, options, empty: html`<p class="muted">${none.places}</p>` })}${nodePicker(choice)}`
}

const free = (l: Location): Content =>
  l.nodes > 0 &&
  html`${mb(Math.max(0, l.memoryMb - l.heldMemoryMb))} memory, ${gb(Math.max(0, l.diskGb - l.heldDiskGb))} disk and ${count(l.freeIpv4, 'IPv4 address', 'IPv4 addresses')} free. `

function nodePicker(
  at: At,
  nodes: readonly Node[] | undefined,
  what: Sold | undefined,
  where: Location | undefined,
): Content {
  const here = nodes?.filter((n) => n.location.id === where?.id)
  return (
    here &&
    here.length > 0 &&
    select('new', 'nodeId', {
      label: 'Node',
      nullable: true,
      value: at.query['nodeId'],
      options: [
        {
          value: '',
          label: where?.placement === 'fill' ? 'Automatic: the fullest that fits' : 'Automatic: the one with most room',
        },
        ...here.map((n) => ({ value: n.id, label: n.name, why: nodeHindrance(n, what) })),
      ],
    })
  )
}

/** Stays in view, and says what is missing. */
function summary({ disabledReason }: Data, { customer, what, where, image, images }: Choice): Html {
  const missing = [!customer && 'a customer', !what && 'a package', !where && 'a location with room'].filter(
    (m): m is string => !!m,
  )
  return html`<aside>${card(
    { id: 'summary', title: 'Summary' },
    inside(html`
    ${kv([
      ['Customer', customer?.name ?? html`<span class="muted">Not chosen</span>`],
      [
        'Package',
        what
          ? html`${what.name}<br><small class="muted">${size(what)}</small>`
          : html`<span class="muted">Not chosen</span>`,
      ],
      ['Location', where?.name ?? html`<span class="muted">None with room</span>`],
      ['Image', images.find((i) => i.value === image)?.label ?? 'None yet'],
    ])}
    ${disabledReason ? html`<button type="button" class="btn pri" aria-disabled="true" data-why="Nothing new can be ordered now.">Create server</button><p class="muted">Nothing new can be ordered now.</p>` : missing.length ? html`<button type="button" class="btn pri" aria-disabled="true" data-why="Choose ${missing.join(' and ')} first.">Create server</button><p class="muted">Choose ${missing.join(' and ')} first.</p>` : html`<button class="btn pri">Create server</button>`}`),
  )}</aside>`
}
