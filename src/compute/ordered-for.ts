// The owner of what is ordered. A dry run may have none: a billing system asks before it makes its new client here,
// so that a refused order leaves no customer without a server.
import { Type as t } from 'typebox'
import { type Account, customer } from '../identity/account-records/model.ts'
import { rehearsedCustomer } from '../identity/resellers/model.ts'
import { invalid } from '../kernel/api/errors.ts'
import { type Call, described, isDryRun, nullable, see } from '../kernel/api/operation.ts'

/** The field of an order. */
export const orderedFor = described(
  nullable(t.String({ minLength: 1, maxLength: 40 })),
  'The customer. Null only with `dryRun=true`: as for a customer of yours who is still to be made.',
)

/** Throws `validation_failed`; without an owner `reseller_suspended` and `quota_exceeded` too. */
export function ownerOf(
  { tx, actor, query, clock }: Pick<Call, 'tx' | 'actor' | 'query' | 'clock'>,
  ordering: Parameters<typeof isDryRun>[0],
  ownerId: string | null,
): Account {
  if (ownerId !== null) return see(tx, actor, customer, ownerId, 'ownerId')
  if (!isDryRun(ordering, query))
    throw invalid({ field: 'ownerId', message: 'may be null only with dryRun=true. Name the customer.' })
  return rehearsedCustomer(tx, actor, clock())
}
