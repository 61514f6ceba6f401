// The placement group that an order names.
import { groupById, type PlacementGroup } from '../fleet/placement-group-records/queries.ts'
import { isOwnedVisible } from '../identity/account-records/owned.ts'
import { type AccessLevel, rightsWith } from '../identity/team/access.ts'
import { accountRole } from '../identity/team/queries.ts'
import type { Actor } from '../kernel/api/actor.ts'
import { invalid } from '../kernel/api/errors.ts'
import { type Resource, see } from '../kernel/api/operation.ts'
import type { Db } from '../kernel/db/open.ts'

/**
 * The owner, its reseller, staff who see all servers, and whoever may operate all servers of the owner by its team.
 * Those who share one server alone do not see the others, so they do not see its group.
 */
export function groupAccess(tx: Db, actor: Actor, group: PlacementGroup): AccessLevel | undefined {
  if (isOwnedVisible(actor, group)) return 'own'
  if (actor.kind === 'staff') return undefined
  const role = accountRole(tx, actor.accountId, group.ownerId)
  return role === 'view' ? undefined : role
}

export const placementGroup: Resource<PlacementGroup> = {
  name: 'placement group',
  notFound: 'placement_group_not_found',
  find(tx, actor, id) {
    const found = groupById(tx, id)
    return found && groupAccess(tx, actor, found) ? found : undefined
  },
  rights: (tx, actor, group) => rightsWith(groupAccess(tx, actor, group)!),
}

/** A group of the owner of the order; undefined for none. Throws `validation_failed`. */
export function groupFor(tx: Db, actor: Actor, ownerId: string, id: string | undefined) {
  if (id === undefined) return undefined
  const group = see(tx, actor, placementGroup, id, 'placementGroupId')
  // A group does not leave its owner, also by staff who see all of them.
  if (group.ownerId !== ownerId)
    throw invalid({ field: 'placementGroupId', message: `No such ${placementGroup.name}.` })
  return group
}
