// The external id that the account of an owner gets: the number under which the billing system knows the customer.
import type { Account } from '../../../identity/account-records/model.ts'
import { accountById, customerWithExternalId } from '../../../identity/account-records/queries.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { ownersWithBillingId } from '../../import-records/choices/queries.ts'
import type { ImportOwner } from '../../import-records/inventory/queries.ts'
import { type ImportRecord, UNNAMED } from '../../import-records/model.ts'

type At = { tx: Db; target: ImportRecord }
/** `account`: the one that has the id; undefined: another owner of the import gets it. */
export type Taken = { account: Account | undefined; words: string }

/** The id that is chosen for the account of the owner; null: none. */
function wanted({ target: { billing } }: Pick<At, 'target'>, { sourceId, billingId, email }: ImportOwner) {
  // An owner that stands only in a row of a server has no id there.
  const hasId = sourceId !== UNNAMED && sourceId !== `email:${email}`
  const ids = { none: '', billing_id: billingId, source_id: hasId ? sourceId : '' }
  return ids[billing.externalId] || null
}

/** The account or owner that has the external id already; undefined: it is free, or none is wanted. */
export function externalIdTaken(at: At, row: ImportOwner): Taken | undefined {
  const { tx, target } = at
  const id = wanted(at, row)
  if (id === null) return undefined
  const holder = customerWithExternalId(tx, row.resellerId, id)
  if (holder !== undefined && holder !== row.createdAccountId) {
    const account = accountById(tx, holder)!
    return { account, words: `${account.name} has the external id ${id} here already.` }
  }
  const [first] = target.billing.externalId === 'billing_id' ? ownersWithBillingId(tx, target.id, id) : []
  return first === undefined || first === row.sourceId
    ? undefined
    : { account: undefined, words: `The owner ${first} of the other panel has the external id ${id} too.` }
}

/** The external id that a new account for the owner gets; null: none, or another customer has it. */
export const freeExternalId = (at: At, row: ImportOwner): string | null =>
  externalIdTaken(at, row) ? null : wanted(at, row)
