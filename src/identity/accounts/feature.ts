import { Type as t } from 'typebox'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { setAllowance } from './allowance.ts'
import { lockedAccount } from './attention.ts'
import {
  changeCustomer,
  createCustomer,
  getCustomer,
  listCustomers,
  lockCustomer,
  unlockCustomer,
} from './customers.ts'
import { customerData } from './model.ts'
import { changeEmail, changeOwnAccount, changePassword, confirmEmail, getOwnAccount } from './own-account.ts'
import { setUp } from './set-up.ts'
import { accounts, roles } from './tables.ts'

const events = {
  'customer.created': event('resellers', 'A new account', t.Object({ customer: customerData })),
}
type Events = typeof events
declare module '../../kernel/register.ts' {
  interface EventTypes extends Events {}
}

export const accountsFeature = feature({
  name: 'accounts',
  tables: [roles, accounts],
  events,
  operations: [
    setUp,
    confirmEmail,
    getOwnAccount,
    changeOwnAccount,
    changePassword,
    changeEmail,
    createCustomer,
    listCustomers,
    getCustomer,
    changeCustomer,
    lockCustomer,
    unlockCustomer,
    setAllowance,
  ],
  attention: [lockedAccount],
})
