// The rules of the billing system's own identifier of a workload. One living workload of a provider has it at most,
// whatever its kind: a lost answer, a second click and parallel activations make one server.
import { type Workload, workloadOfService } from '../../fleet/workloads/queries.ts'
import { canSee } from '../../identity/team/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { line } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'

/** The billing system's own identifier of a workload; empty for none. */
export const billingServiceId = line(100, 0)

/**
 * Throws `validation_failed` for a reseller that names a workload of its own: there the identifier is the house's, and
 * its billing system would take it for one of its services.
 */
export function mustNameOwnService(actor: Actor, ownerId: string, given: string | null | undefined) {
  if (given && actor.kind === 'reseller' && ownerId === actor.accountId)
    throw invalid({ field: 'billingServiceId', message: 'is for servers of your customers. Leave it out.' })
}

/**
 * Throws `billing_service_id_taken` where another living workload of the provider has this identifier. `resellerId`:
 * the provider, null for the house. `id`: the workload that is to have it, left out for a new one.
 */
export function mustBeFreeService(
  tx: Tx,
  actor: Actor,
  { id, resellerId }: Pick<Workload, 'resellerId'> & { id?: string },
  given: string | null | undefined,
) {
  const holder = given ? workloadOfService(tx, resellerId, given, id) : undefined
  if (!holder) return
  const seen = canSee(tx, actor, holder)
  throw new ApiError(
    'billing_service_id_taken',
    `${seen ? `${holder.hostname} (${holder.id})` : 'Another server or GPU instance'} has this billingServiceId ` +
      'already. Take that one over, or give one of the two another identifier.',
    seen ? { [holder.kind === 'server' ? 'serverId' : 'instanceId']: holder.id } : {},
  )
}
