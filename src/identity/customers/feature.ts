import { Type as t } from 'typebox'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { areas } from '../account-records/areas.ts'
import { customerData } from '../account-records/model.ts'
import { hasBuyers, searchAccounts } from '../account-records/queries.ts'
import {
  changeCustomer,
  createCustomer,
  exportCustomers,
  getCustomer,
  inviteCustomer,
  listCustomers,
  lockCustomer,
  unlockCustomer,
} from './customers.ts'
import { setGpuLimit } from './gpu-limit.ts'

const events = {
  'customer.created': event('resellers', 'A new account', t.Object({ customer: customerData })),
}

const scopes = {
  'customers:read': { words: 'See customers' },
  'customers:write': { words: 'Create and change customers' },
} as const

const permissions = {
  'customers.read': { words: 'See customers', opens: ['customers:read'] },
  'customers.write': { words: 'Create and change customers', opens: ['customers:write'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    customers: { scopes: typeof scopes; permissions: typeof permissions; events: typeof events }
  }
}

export const customersFeature = feature({
  name: 'customers',
  scopes,
  permissions,
  events,
  operations: [
    createCustomer,
    inviteCustomer,
    exportCustomers,
    listCustomers,
    getCustomer,
    changeCustomer,
    lockCustomer,
    unlockCustomer,
    setGpuLimit,
  ],
  search: [
    {
      type: 'customer',
      position: 20,
      place: ({ actor }) =>
        actor.scopes.has(actor.kind === 'staff' ? 'customers:read' : 'reseller:customers')
          ? `${areas[actor.kind]}/customers/`
          : undefined,
      find: ({ tx, actor }, text, most) =>
        searchAccounts(tx, text, most, actor.kind === 'staff' ? undefined : actor.accountId).map(
          ({ exact, ...found }) => ({ ...found, exact: exact === 1 }),
        ),
    },
  ],
  checklist: [
    {
      kinds: ['staff'],
      position: 65,
      by: createCustomer,
      title: 'First customer',
      words: 'The owner of a server. You may add yourself, to try it.',
      done: ({ tx }) => hasBuyers(tx),
      href: () => '/admin/customers',
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: '',
      position: 120,
      name: 'customers',
      title: 'Customers',
      href: '/admin/customers',
      icon: 'customers',
      sees: listCustomers,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 20,
      title: 'Add customer',
      page: '/admin/customers',
      dialog: true,
      does: createCustomer,
    },
  ],
})
