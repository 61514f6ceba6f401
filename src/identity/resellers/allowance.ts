// Resource packs that a customer bought beside its packages. Billing always sends the whole allowance.
import { Type as t } from 'typebox'
import { fields, operation } from '../../kernel/api/operation.ts'
import { type Allowance, customer } from '../account-records/model.ts'
import { updateAccount } from '../account-records/queries.ts'
import { allowanceResponse, noAllowance } from '../customers/model.ts'
import { mustNotBeSuspended, resellerOf } from './model.ts'

/** Limits far above any host: a typing error of billing must not look like a purchase. */
const amount = (maximum: number) => t.Optional(t.Integer({ minimum: 0, maximum }))
const body = fields({
  vcpus: amount(4096),
  memoryMb: amount(67_108_864),
  diskGb: amount(1_048_576),
  trafficGb: amount(10_000_000),
  ipv4: amount(4096),
})

export const setAllowance = operation({
  id: 'customers.set-allowance',
  method: 'PUT',
  path: '/customers/{id}/allowance',
  summary: 'Set what a customer has bought besides its packages; what is left out is none',
  past: 'Changed the allowance',
  access: { staff: ['customers:write'], reseller: ['reseller:customers'] },
  on: customer,
  body,
  response: allowanceResponse,
  refuses: ['reseller_suspended'],
  example: { vcpus: 2, memoryMb: 4096, diskGb: 40, trafficGb: 1000, ipv4: 1 },
  run({ tx, target, body }) {
    const allowance: Allowance = { ...noAllowance, ...body }
    const had = target.allowance ?? noAllowance
    const grows = (Object.keys(allowance) as (keyof Allowance)[]).some((name) => allowance[name] > had[name])
    const reseller = grows ? resellerOf(tx, target) : undefined
    if (reseller) mustNotBeSuspended(reseller)
    updateAccount(tx, target, { allowance })
    return allowance
  },
})
