import { inArray, or, type SQL } from 'drizzle-orm'
import { groupOwners } from '../../fleet/placement-group-records/model.ts'
import { ownedVisibleTo } from '../../identity/account-records/owned.ts'
import { ownersWith } from '../../identity/team/queries.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Db } from '../../kernel/db/open.ts'

/** The same rule as `groupAccess`, for lists. */
export function visibleTo(tx: Db, actor: Actor): SQL | undefined {
  const own = ownedVisibleTo(actor, groupOwners)
  const shared = actor.kind === 'staff' ? [] : ownersWith(tx, actor.accountId, ['operate', 'manage'])
  return shared.length ? or(own, inArray(groupOwners.ownerId, shared)) : own
}
