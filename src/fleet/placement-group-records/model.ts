import { placementGroups } from './tables.ts'

export type { PlacementGroup } from './queries.ts'
export { type GroupPolicy, groupPolicies } from './tables.ts'

/** The columns that decide who sees a group. */
export const groupOwners = { ownerId: placementGroups.ownerId, resellerId: placementGroups.resellerId }
