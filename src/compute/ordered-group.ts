// The placement group that an order names.
import { groupById } from '../fleet/placement-group-records/queries.ts'
import { ownedResource } from '../identity/account-records/owned.ts'
import type { Actor } from '../kernel/api/actor.ts'
import { invalid } from '../kernel/api/errors.ts'
import { see } from '../kernel/api/operation.ts'
import type { Db } from '../kernel/db/open.ts'

export const placementGroup = ownedResource(
  { name: 'placement group', notFound: 'placement_group_not_found' },
  groupById,
)

/** A group of the owner of the order; undefined for none. Throws `validation_failed`. */
export function groupFor(tx: Db, actor: Actor, ownerId: string, id: string | undefined) {
  if (id === undefined) return undefined
  const group = see(tx, actor, placementGroup, id, 'placementGroupId')
  // A group does not leave its owner, also by staff who see all of them.
  if (group.ownerId !== ownerId)
    throw invalid({ field: 'placementGroupId', message: `No such ${placementGroup.name}.` })
  return group
}
