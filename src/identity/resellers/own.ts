import type { Actor } from '../../kernel/api/actor.ts'
import { page } from '../../kernel/api/list.ts'
import { fields, operation } from '../../kernel/api/operation.ts'
import { csvOf } from '../../kernel/csv.ts'
import type { Db } from '../../kernel/db/open.ts'
import { mailAddress } from '../account-records/model.ts'
import { accountById, pageOfAccounts } from '../account-records/queries.ts'
import { sendWelcome } from '../auth/passwords/change.ts'
import {
  accountQuery,
  addAccount,
  customerColumns,
  customerResponse,
  newAccountFields,
  showCustomer,
  tellCreated,
} from '../customers/model.ts'
import { mustAllowCustomer, resellerResponse, showReseller, withTerms } from './model.ts'

const itself = (tx: Db, actor: Actor) => withTerms(tx, accountById(tx, actor.accountId)!)

export const getResellerAccount = operation({
  id: 'reseller.account',
  method: 'GET',
  path: '/reseller/account',
  summary: 'The packages and locations that you may sell, with their identifiers, and your quotas',
  access: { reseller: ['reseller:read'] },
  response: resellerResponse,
  run: ({ tx, actor }) => showReseller(tx, itself(tx, actor), { onSale: true }),
})

export const createResellerCustomer = operation({
  id: 'reseller.create-customer',
  method: 'POST',
  path: '/reseller/customers',
  summary: 'Add a customer of your own',
  past: 'Added a customer',
  access: { reseller: ['reseller:customers'] },
  body: fields(newAccountFields),
  response: customerResponse,
  status: 201,
  idempotent: true,
  refuses: ['reseller_suspended', 'quota_exceeded', 'email_taken', 'external_id_taken'],
  example: {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    organization: 'Analytical Engines Ltd',
    externalId: 'client-1842',
  },
  run(call) {
    const { tx, actor, clock } = call
    const body = { ...call.body, email: mailAddress(call.body.email) } // before what is only wrong now
    mustAllowCustomer(tx, clock(), itself(tx, actor))
    const customer = addAccount(tx, body, {
      kind: 'customer',
      resellerId: actor.accountId,
      byReseller: true,
      now: clock(),
    })
    tellCreated(tx, clock(), customer)
    if (body.invite) sendWelcome(tx, call, customer)
    return showCustomer(tx, customer)
  },
})

export const listResellerCustomers = operation({
  id: 'reseller.customers',
  method: 'GET',
  path: '/reseller/customers',
  summary: 'Your customers, newest first',
  access: { reseller: ['reseller:customers'] },
  query: accountQuery,
  response: page(customerResponse),
  run: (call) =>
    pageOfAccounts(call, {
      name: 'own customers',
      group: { kind: 'customers and resellers', resellerId: call.actor.accountId },
      show: (customer) => showCustomer(call.tx, customer),
    }),
})

export const exportResellerCustomers = csvOf(listResellerCustomers, {
  id: 'reseller.export-customers',
  path: '/reseller/customers.csv',
  summary: 'Your customers as a spreadsheet, filtered and sorted as the list',
  columns: customerColumns,
})
