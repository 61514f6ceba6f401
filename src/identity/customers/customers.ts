import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { done, fields, line, operation, type Query } from '../../kernel/api/operation.ts'
import { idOf, text } from '../../kernel/api/query.ts'
import { csvOf } from '../../kernel/csv.ts'
import { customer, resellerIdFor } from '../account-records/model.ts'
import { tellOldAddress } from '../account-records/new-address.ts'
import { pageOfAccounts, updateAccount } from '../account-records/queries.ts'
import { sendWelcome } from '../auth/passwords/change.ts'
import {
  accountChanges,
  accountQuery,
  addAccount,
  changeAccount,
  customerColumns,
  customerResponse,
  newAccountFields,
  showCustomer,
  tellCreated,
} from './model.ts'

/** Staff do it for everybody, a reseller for its customers. */
const who = { staff: ['customers:write'], reseller: ['reseller:customers'] } as const

const example = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  organization: 'Analytical Engines Ltd',
  externalId: 'client-1842',
}

export const createCustomer = operation({
  id: 'customers.create',
  method: 'POST',
  path: '/admin/customers',
  summary: 'Add a customer',
  access: { staff: ['customers:write'] },
  body: fields(newAccountFields),
  response: customerResponse,
  status: 201,
  idempotent: true,
  refuses: ['email_taken', 'external_id_taken'],
  example,
  run(call) {
    const { tx, body, clock } = call
    const customer = addAccount(tx, body, { kind: 'customer', now: clock() })
    tellCreated(tx, clock(), customer)
    if (body.invite) sendWelcome(tx, call, customer)
    return showCustomer(tx, customer)
  },
})

export const inviteCustomer = operation({
  id: 'customers.invite',
  method: 'POST',
  path: '/customers/{id}/actions/invite',
  summary: 'Mail a customer without a password a link to choose one; an earlier link ends',
  past: 'Sent an invitation',
  access: who,
  on: customer,
  response: done,
  refuses: ['already_done'],
  run({ tx, target, ...app }) {
    if (target.passwordHash)
      throw new ApiError(
        'already_done',
        `${target.name} has already chosen a password. If it is forgotten, the sign-in page mails a link.`,
      )
    sendWelcome(tx, app, target)
    return {}
  },
})

export const listCustomers = operation({
  id: 'customers.list',
  method: 'GET',
  path: '/admin/customers',
  summary: 'Customers and resellers, newest first',
  access: { staff: ['customers:read'] },
  query: {
    ...accountQuery,
    externalId: text(
      "Exactly this identifier of the billing system's own. Resellers have identifiers of theirs: without " +
        '`resellerId` it looks among accounts that have no reseller, and so finds one at most.',
    ),
    resellerId: idOf('usr', 'Only customers of this reseller.'),
  },
  response: page(customerResponse),
  run: (call) =>
    pageOfAccounts(call, {
      name: 'customers',
      group: { kind: 'customers and resellers', ...among(call.query) },
      show: (account) => showCustomer(call.tx, account),
    }),
})

export const exportCustomers = csvOf(listCustomers, {
  id: 'customers.export',
  path: '/admin/customers.csv',
  summary: 'Customers and resellers as a spreadsheet, filtered and sorted as the list',
  columns: { ...customerColumns, reseller: (c) => c.resellerName },
})

/**
 * An external id is unique among the customers of one reseller: without a reseller only the installation's own are
 * searched by it.
 */
const among = ({ resellerId, externalId }: Query) =>
  resellerId ? { resellerId } : externalId ? { resellerId: null } : {}

export const getCustomer = operation({
  id: 'customers.get',
  method: 'GET',
  path: '/customers/{id}',
  summary: 'One customer',
  access: { staff: ['customers:read'], reseller: ['reseller:read'], customer: ['account:read'] },
  on: customer,
  response: customerResponse,
  run: ({ tx, actor, target }) => ({
    ...showCustomer(tx, target),
    resellerId: resellerIdFor(actor, target.resellerId),
  }),
})

export const changeCustomer = operation({
  id: 'customers.update',
  powers: ['gives_access'],
  method: 'PATCH',
  path: '/customers/{id}',
  summary: 'Change a customer; what is not sent stays as it is',
  access: who,
  requiresRecentAuth: ['email'],
  on: customer,
  body: fields(accountChanges),
  response: customerResponse,
  refuses: ['email_taken', 'external_id_taken'],
  example,
  run(call) {
    const { tx, target, body } = call
    return showCustomer(tx, tellOldAddress(tx, call, target, changeAccount(tx, target, body, call.actor)))
  },
})

export const lockCustomer = operation({
  id: 'customers.lock',
  method: 'POST',
  path: '/customers/{id}/actions/lock',
  summary: 'Lock a customer: its servers keep running, and it may neither order nor control them',
  access: who,
  allowedInSupportSession: true,
  on: customer,
  body: fields({ reason: line(500) }),
  response: customerResponse,
  refuses: ['already_done'],
  example: { reason: 'Payments were charged back' },
  run({ tx, target, body, clock }) {
    if (target.lockedAt !== null) throw new ApiError('already_done', `The account of ${target.name} is already locked.`)
    return showCustomer(tx, updateAccount(tx, target, { lockedAt: clock(), lockReason: body.reason }))
  },
})

export const unlockCustomer = operation({
  id: 'customers.unlock',
  method: 'POST',
  path: '/customers/{id}/actions/unlock',
  summary: 'Unlock a customer: orders are accepted again',
  access: who,
  allowedInSupportSession: true,
  on: customer,
  response: customerResponse,
  refuses: ['already_done'],
  run({ tx, target }) {
    if (target.lockedAt === null) throw new ApiError('already_done', `The account of ${target.name} is not locked.`)
    return showCustomer(tx, updateAccount(tx, target, { lockedAt: null, lockReason: null }))
  },
})
