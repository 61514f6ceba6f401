import { createCustomer, listCustomers } from '../../src/accounts/customers.ts'
import { html } from '../../src/kernel/web/html.ts'
import { type Answers, type At, page } from '../../src/kernel/web/page.ts'
import { act } from '../parts/act.ts'
import { empty } from '../parts/card.ts'
import { check, field } from '../parts/field.ts'
import { head } from '../parts/head.ts'
import { pill } from '../parts/state.ts'
import { filters, filterText, pager, table } from '../parts/table.ts'
import { time } from '../parts/time.ts'
import { count } from '../parts/words.ts'

type Customer = Answers<{ c: typeof listCustomers }>['c']['data'][number]

const add = (at: At) =>
  act(at, createCustomer, {}, 'Add customer', {
    icon: 'plus',
    tone: 'pri',
    done: '{name} is added',
    leadsTo: '/admin/customers/{id}',
    fields: html`${field('customer', 'name', { label: 'Name', required: true })}${field('customer', 'email', { label: 'E-mail address', type: 'email', required: true })}${field('customer', 'organization', { label: 'Organization', nullable: true })}${field('customer', 'externalId', { label: 'External id', nullable: true, hint: "The billing system's own identifier." })}${check('customer', 'invite', { label: 'Mail a link to choose a password', checked: true })}`,
  })

export const customersPage = page({
  path: '/admin/customers',
  reads: { customers: listCustomers },
  title: 'Customers',
  nav: 'customers',
  view: ({ customers, at }) => html`
    ${head({ title: 'Customers', actions: add(at) })}
    <section class="card" aria-label="Customers">
      ${filters(at, html`${filterText(at, 'q', 'Search customers', 'Name, organization or e-mail')}${filterText(at, 'externalId', 'External id', 'External id')}`, count(customers.total, 'customer'))}
      ${
        customers.data.length
          ? table<Customer>(
              'Customers',
              customers.data,
              [
                {
                  title: 'Customer',
                  main: true,
                  cell: (c) =>
                    html`<a href="/admin/customers/${c.id}">${c.name}</a>${c.organization && html`<small>${c.organization}</small>`}`,
                },
                { title: 'E-mail', cell: (c) => c.email },
                {
                  title: 'Kind',
                  cell: (c) =>
                    html`${c.kind === 'reseller' ? 'Reseller' : 'Customer'}${c.lockedAt && html` ${pill('hold', 'pause', 'Locked')}`}`,
                },
                { title: 'External id', cell: (c) => (c.externalId ? html`<span class="mono">${c.externalId}</span>` : '–') },
                {
                  title: 'Servers',
                  num: true,
                  cell: (c) => (c.servers ? html`<a href="/admin/servers?ownerId=${c.id}">${c.servers}</a>` : '0'),
                },
                { title: 'Since', cell: (c) => time(c.createdAt, at) },
              ],
              (c) => c.id,
            )
          : Object.keys(at.query).length
            ? empty('No customer fits this search.', html`<a class="btn" href="${at.path}">Clear filters</a>`)
            : empty('A customer owns servers and signs in to manage them.')
      }
      ${pager(at, customers)}
    </section>`,
})
