import { createCustomer, listCustomers } from '../../../src/identity/accounts/customers.ts'
import { createResellerCustomer, listResellerCustomers } from '../../../src/identity/resellers/own.ts'
import { type Content, type Html, html } from '../../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../../src/kernel/web/page.ts'
import { count } from '../../components/words.ts'
import { type Acting, act } from '../../html/act.ts'
import { empty } from '../../html/card.ts'
import { check, field } from '../../html/field.ts'
import { head } from '../../html/head.ts'
import { pill } from '../../html/state.ts'
import { filterChoice, filters, filterText, pager, someOnly, table } from '../../html/table.ts'
import { time } from '../../html/time.ts'

type Listed = Answers<{ c: typeof listCustomers }>['c']
type Customer = Listed['data'][number]

/** Resellers have pages of their own beside that of their account. */
const kindOf = (c: Customer): Content =>
  c.kind === 'reseller'
    ? html`<a href="/admin/resellers/${c.id}">Reseller</a>`
    : c.resellerId
      ? html`of <a href="/admin/resellers/${c.resellerId}">${c.resellerName}</a>`
      : 'Customer'

const adding = { '/admin': createCustomer, '/reseller': createResellerCustomer } as const
type Keeping = keyof typeof adding

export const addCustomer = (at: At, area: Keeping, look: Pick<Acting, 'tone'> = { tone: 'pri' }) =>
  act(at, adding[area], {}, 'Add customer', {
    icon: 'plus',
    ...look,
    done: '{name} is added',
    leadsTo: `${area}/customers/{id}`,
    fields: html`${field('customer', 'name', { label: 'Name', required: true })}${field('customer', 'email', { label: 'E-mail address', type: 'email', required: true })}${field('customer', 'organization', { label: 'Organization', nullable: true })}${field('customer', 'externalId', { label: 'External id', nullable: true, hint: "The billing system's own identifier." })}${check('customer', 'invite', { label: 'Mail a link to choose a password', checked: true })}`,
  })

export const customersPage = page({
  path: '/admin/customers',
  reads: { customers: listCustomers },
  title: 'Customers',
  nav: 'customers',
  view: (data) => view(data, '/admin'),
})

export const resellerCustomersPage = page({
  path: '/reseller/customers',
  reads: { customers: listResellerCustomers },
  title: 'Customers',
  nav: 'customers',
  view: (data) => view(data, '/reseller'),
})

const view = ({ customers, at }: { customers: Listed; at: At }, area: Keeping): Html => html`
    ${head({ title: 'Customers', actions: addCustomer(at, area), sub: someOnly(at, at.query['resellerId'] && 'Only customers of one reseller.') })}
    <section class="sec" aria-label="Customers">
      ${filters(at, html`${filterText(at, 'q', 'Search customers', 'Name, organization or e-mail')}${filterText(at, 'externalId', 'External id', 'External id')}${filterChoice(at, 'locked', 'State', [['yes', 'Locked']])}${at.query['resellerId'] && html`<input type="hidden" name="resellerId" value="${at.query['resellerId']}">`}`, count(customers.total, 'customer'))}
      ${
        customers.data.length
          ? customerTable(customers.data, at, area)
          : Object.keys(at.query).length
            ? empty('No customer matches this search.', html`<a class="btn" href="${at.path}">Clear filters</a>`)
            : empty('A customer owns servers and signs in to manage them.')
      }
      ${pager(at, customers)}
    </section>`

export const customerTable = (customers: readonly Customer[], at: At, area: Keeping, { kind = true } = {}): Html =>
  table<Customer>(
    'Customers',
    customers,
    [
      {
        title: 'Customer',
        main: true,
        cell: (c) =>
          html`<a href="${area}/customers/${c.id}">${c.name}</a>${c.organization && html`<small>${c.organization}</small>`}`,
      },
      { title: 'E-mail', cell: (c) => c.email },
      ...(kind
        ? [
            {
              title: area === '/admin' ? 'Kind' : 'State',
              cell: (c: Customer) =>
                html`${area === '/admin' ? kindOf(c) : !c.lockedAt && pill('ok', 'dot', 'Open')}${c.lockedAt && html` ${pill('hold', 'hold', 'Locked')}`}`,
            },
          ]
        : []),
      { title: 'External id', cell: (c) => (c.externalId ? html`<span class="mono">${c.externalId}</span>` : '–') },
      {
        title: 'Servers',
        num: true,
        cell: (c) => (c.servers ? html`<a href="${area}/servers?ownerId=${c.id}">${c.servers}</a>` : '0'),
      },
      { title: 'Since', cell: (c) => time(c.createdAt, at) },
    ],
    (c) => c.id,
  )
