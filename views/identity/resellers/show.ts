import { listPackages } from '../../../src/catalog/packages/packages.ts'
import { listAllServers } from '../../../src/compute/servers/list.ts'
import { listCustomers } from '../../../src/identity/accounts/customers.ts'
import { quotaResources, quotaWords } from '../../../src/identity/resellers/quota.ts'
import {
  changeReseller,
  getReseller,
  suspendReseller,
  unsuspendReseller,
} from '../../../src/identity/resellers/resellers.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, allIfAllowed, ifAllowed, page } from '../../../src/kernel/web/page.ts'
import { count, size } from '../../components/words.ts'
import { act } from '../../html/act.ts'
import { card, copyable, empty, inside, kv, notice } from '../../html/card.ts'
import { checks, field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { serverTable } from '../../html/lists.ts'
import { live } from '../../html/live.ts'
import { time } from '../../html/time.ts'
import { customerTable } from '../customers/list.ts'
import { changeEmail } from '../customers/show.ts'
import { locationsCard, packagesCard, quotaCard } from '../reseller/terms.ts'
import { resellerState } from './list.ts'

const ofIt = ({ params }: At) => ({ query: { resellerId: params['id'] ?? '', limit: '20' } })
const reads = {
  reseller: getReseller,
  customers: ifAllowed(listCustomers, ofIt),
  servers: ifAllowed(listAllServers, ofIt),
  offer: allIfAllowed(listPackages),
}
type Data = Answers<typeof reads> & { at: At }

export const resellerPage = page({
  path: '/admin/resellers/{id}',
  reads,
  title: ({ reseller }) => reseller.name,
  nav: 'resellers',
  view: (data) => {
    const { reseller: r, customers, servers, at } = data
    return html`
      ${head({
        title: r.name,
        trail: [['Resellers', '/admin/resellers']],
        state: resellerState(r),
        sub: r.organization ? html`${r.organization} · ${r.email}` : r.email,
        actions: html`<a class="btn" href="/admin/customers/${r.id}">Its own account</a>${edit(data)}${r.suspendedAt ? unsuspend(data) : suspend(data)}`,
      })}
      ${r.suspendedAt && html`<div class="sec">${notice('warn', html`<strong>Suspended ${time(r.suspendedAt, at)}: ${r.name} and its customers get nothing new.</strong> What they have goes on.${r.suspendReason && html`<br>${r.suspendReason}`}`)}</div>`}
      <div class="cols">${quotaCard(r, { actions: changeQuotas(data) })}${details(data)}</div>
      ${packagesCard(r.packages, `${r.name} may sell no package yet: its orders are refused.`, changePackages(data))}
      ${locationsCard(r.locations, `${r.name} may sell in no location yet: its orders are refused.`, changeLocations(data))}
      ${
        customers &&
        card(
          {
            id: 'customers',
            title: 'Customers',
            count: customers.total || undefined,
            actions: customers.nextCursor && html`<a href="/admin/customers?resellerId=${r.id}">Show all</a>`,
          },
          customers.data.length
            ? customerTable(customers.data, at, '/admin', { kind: false })
            : empty(`${r.name} has no customer yet.`),
        )
      }
      ${
        servers &&
        card(
          {
            id: 'servers',
            title: 'Servers',
            count: servers.total || undefined,
            actions: servers.nextCursor && html`<a href="/admin/servers?resellerId=${r.id}">Show all</a>`,
          },
          live(
            at,
            'servers-list',
            4,
            servers.data.length
              ? serverTable(servers.data, '/admin')
              : empty(`Neither ${r.name} nor its customers have a server yet.`),
            '',
          ),
        )
      }`
  },
})

const details = ({ reseller: r, at }: Data): Html =>
  card(
    { id: 'details', title: 'Details' },
    inside(
      kv([
        ['E-mail', html`${copyable(r.email, 'e-mail address')} ${changeEmail(at, changeReseller, r)}`],
        ['Organization', r.organization],
        ['External id', r.externalId && copyable(r.externalId, 'external id')],
        ['Since', time(r.createdAt, at)],
        ['Id', copyable(r.id, 'id')],
      ]),
    ),
  )

const saving = { submit: 'Save', done: 'Saved' } as const

const edit = ({ reseller: r, at }: Data): Html =>
  act(at, changeReseller, { id: r.id }, 'Edit', {
    ...saving,
    title: `Edit ${r.name}`,
    fields: html`${field('edit', 'name', { label: 'Name', required: true, value: r.name })}${field('edit', 'organization', { label: 'Organization', nullable: true, value: r.organization })}${field('edit', 'externalId', { label: 'External id', nullable: true, value: r.externalId, hint: "The billing system's own identifier." })}`,
  })

const changeQuotas = ({ reseller: r, at }: Data): Html =>
  act(at, changeReseller, { id: r.id }, 'Change', {
    ...saving,
    of: 'quotas',
    part: 'quotas',
    title: `Quotas of ${r.name}`,
    fields: html`<p class="muted">For ${r.name} and its customers together. Empty: not limited. What they have stays, also above a lower quota.</p>
      <div class="pair">${quotaResources.map((resource) => {
        const { label, say, unit } = quotaWords[resource]
        return field('quota', `quotas.${resource}`, {
          label,
          as: 'number',
          nullable: true,
          value: r.quotas[resource],
          hint: `${say(r.used[resource])} used`,
          ...(unit && { unit }),
        })
      })}</div>`,
  })

/** What is on the list is offered even where the whole list may not be read. */
const withAllowed = <T extends { id: string }>(allowed: readonly T[], offered: readonly T[] = []) => [
  ...offered,
  ...allowed.filter(({ id }) => !offered.some((o) => o.id === id)),
]

const changePackages = ({ reseller: r, offer, at }: Data): Html =>
  act(at, changeReseller, { id: r.id }, 'Change', {
    ...saving,
    of: 'packages',
    part: 'packages',
    title: `Packages that ${r.name} may sell`,
    fields: checks('packages', 'packageIds', {
      label: 'Packages',
      hint: 'Existing servers keep theirs.',
      values: r.packages.map((p) => p.id),
      options: withAllowed(
        r.packages,
        offer?.data.filter((p) => !p.archived),
      ).map((p) => ({ value: p.id, label: p.name, hint: size(p) })),
      empty: html`<p class="muted">There is no package yet. <a href="/admin/packages">Add one</a> first.</p>`,
    }),
  })

const changeLocations = ({ reseller: r, offer, at }: Data): Html =>
  act(at, changeReseller, { id: r.id }, 'Change', {
    ...saving,
    of: 'locations',
    part: 'locations',
    title: `Locations that ${r.name} may sell in`,
    fields: checks('locations', 'locationIds', {
      label: 'Locations',
      hint: 'Servers in other locations stay there.',
      values: r.locations.map((l) => l.id),
      options: withAllowed(r.locations, offer?.locations).map((l) => ({ value: l.id, label: l.name })),
      empty: html`<p class="muted">There is no location yet. <a href="/admin/node-groups">Add one</a> first.</p>`,
    }),
  })

const suspend = ({ reseller: r, at }: Data): Html =>
  act(at, suspendReseller, { id: r.id }, 'Suspend', {
    icon: 'lock',
    tone: 'bad',
    title: `Suspend ${r.name}?`,
    done: `${r.name} is suspended`,
    confirm: {
      keep: 'Keep active',
      consequences: [
        `Orders for ${r.name}${r.used.customers > 0 ? ` and its ${count(r.used.customers, 'customer')}` : ''} are refused, also yours and those of billing systems.`,
        'It cannot add customers.',
        r.used.servers > 0
          ? `The ${count(r.used.servers, 'server')} of ${r.name} and its customers ${r.used.servers === 1 ? 'goes' : 'go'} on. Suspend those that should not.`
          : 'No server is affected.',
        'Everybody can still sign in and manage what is there.',
        'Unsuspending gives all of it back.',
      ],
    },
    fields: field('suspend', 'reason', {
      label: 'Reason',
      required: true,
      hint: `${r.name} sees it; its customers do not.`,
    }),
  })

const unsuspend = ({ reseller: r, at }: Data): Html =>
  act(at, unsuspendReseller, { id: r.id }, 'Unsuspend', {
    icon: 'play',
    title: `Unsuspend ${r.name}?`,
    done: `${r.name} is active again`,
    confirm: {
      keep: 'Keep suspended',
      consequences: [
        `Orders for ${r.name} and its customers are accepted again, within its quotas.`,
        'The reason is removed here; the audit log keeps it.',
      ],
    },
  })
