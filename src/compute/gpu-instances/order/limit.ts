// How many GPUs a customer may have where it orders instances itself: nobody has agreed to pay for more.
import type { GpuNeed } from '../../../fleet/gpus/placement.ts'
import { heldUnder } from '../../../fleet/workloads/reports.ts'
import type { Account } from '../../../identity/account-records/model.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { count } from '../../../kernel/words.ts'

/** GPUs of all instances of the customer, those that others ordered for it included. */
export const gpusOf = (tx: Db, { id }: Pick<Account, 'id'>): number => heldUnder(tx, id).gpus

/** Throws `limit_reached` where a customer may not have the cards besides those that it has. */
export function mustBeWithinLimit(tx: Db, owner: Account, { cards }: Pick<GpuNeed, 'cards'>) {
  const { gpuLimit: limit } = owner
  const used = gpusOf(tx, owner)
  if (used + cards <= limit) return
  throw new ApiError(
    'limit_reached',
    limit === 0
      ? 'Your account may not order GPU instances itself. Ask your provider.'
      : `Your account may have ${count(limit, 'GPU')} and has ${used}; this order takes ${cards} more. ` +
          'Delete an instance, or ask your provider to raise the limit.',
  )
}
