import { Type as t } from 'typebox'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { areas } from './areas.ts'
import { lockedAccount } from './attention.ts'
import {
  changeCustomer,
  createCustomer,
  exportCustomers,
  getCustomer,
  listCustomers,
  lockCustomer,
  unlockCustomer,
} from './customers.ts'
import { customerData } from './model.ts'
import { changeEmail, changeOwnAccount, changePassword, confirmEmail, getOwnAccount } from './own-account.ts'
import { accountById, accountTarget, searchAccounts } from './queries.ts'
import { inviteFirstStaff, setUp } from './set-up.ts'
import { accountSearch, accounts, roles } from './tables.ts'

const events = {
  'customer.created': event('resellers', 'A new account', t.Object({ customer: customerData })),
}
type Events = typeof events

const errors = {
  setup_link_invalid: {
    status: 401,
    when: 'The setup link was used, or the controller was restarted since.',
    remedy: 'Restart the controller and take the new link from its journal.',
    audited: true,
  },
  customer_not_found: { status: 404, when: 'There is no such customer, or it is not yours.', remedy: 'Check the id.' },
  account_locked: {
    status: 409,
    when: "The customer's account is locked.",
    remedy: 'Unlock it first; a customer asks the provider.',
  },
  email_taken: {
    status: 409,
    when: 'Another account has this e-mail address.',
    remedy: 'Use that account, or another address.',
  },
  external_id_taken: {
    status: 409,
    when: 'Another customer has this externalId.',
    remedy: 'Find that one with `externalId`: it is probably the one you mean.',
  },
} as const
type Errors = typeof errors

const ids = {
  account: {
    prefix: 'usr',
    sample: 'Cal Customer',
    also: ['owner', 'customer', 'reseller', 'actor', 'startedBy', 'staff', 'staffMember', 'memberOfStaff'],
  },
} as const
type Ids = typeof ids

const scopes = {
  'customers:read': { words: 'See customers' },
  'customers:write': { words: 'Create and change customers' },
  'account:read': { words: 'See the own account and its SSH keys', heldBy: ['staff', 'reseller', 'customer'] },
  'account:write': { words: 'Change the own account and its SSH keys', heldBy: ['staff', 'reseller', 'customer'] },
} as const
type Scopes = typeof scopes

const permissions = {
  'customers.read': { words: 'See customers', opens: ['customers:read'] },
  'customers.write': { words: 'Create and change customers', opens: ['customers:write'] },
} as const
type Permissions = typeof permissions
declare module '../../kernel/register.ts' {
  interface ScopeNames extends Scopes {}
  interface PermissionNames extends Permissions {}
  interface IdKinds extends Ids {}
  interface EventTypes extends Events {}
  interface ErrorCodes extends Errors {}
}

export const accountsFeature = feature({
  name: 'accounts',
  starts: inviteFirstStaff,
  scopes,
  permissions,
  ids,
  samples: {
    email: 'cal@example.com',
    organization: 'Example GmbH',
    externalId: '4711',
    lockReason: null,
    lockedAt: null,
    resellerId: null,
    resellerName: null,
  },
  errors,
  tables: [roles, accounts, accountSearch],
  events,
  operations: [
    setUp,
    confirmEmail,
    getOwnAccount,
    changeOwnAccount,
    changePassword,
    changeEmail,
    createCustomer,
    exportCustomers,
    listCustomers,
    getCustomer,
    changeCustomer,
    lockCustomer,
    unlockCustomer,
  ],
  attention: [lockedAccount],
  auditTargets: [
    {
      ...accountTarget,
      page: ({ id, kind }, actor) => {
        if (id === actor.accountId) return '/account'
        if (actor.kind === 'staff' && kind === 'staff') return `/admin/staff#${id}`
        if (actor.kind === 'staff' && kind === 'reseller') return `/admin/resellers/${id}`
        return actor.kind !== 'customer' && kind === 'customer' ? `${areas[actor.kind]}/customers/${id}` : undefined
      },
    },
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
        searchAccounts(tx, text, most, actor.kind === 'staff' ? undefined : actor.accountId),
    },
  ],
  checklist: [
    {
      kinds: ['reseller', 'customer'],
      position: 10,
      by: changePassword,
      title: 'Password',
      words: 'You came by a link. With a password you sign in without one.',
      done: ({ tx, actor }) => accountById(tx, actor.accountId)?.passwordHash != null,
      href: () => '/account',
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
    {
      kinds: ['staff', 'reseller', 'customer'],
      group: 'Account',
      position: 400,
      name: 'account',
      menu: true,
      title: 'Account',
      href: '/account',
      icon: 'user',
      sees: getOwnAccount,
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
    {
      kinds: ['staff', 'reseller', 'customer'],
      position: 320,
      title: 'Change password',
      page: '/account',
      dialog: true,
      does: changePassword,
    },
  ],
})
