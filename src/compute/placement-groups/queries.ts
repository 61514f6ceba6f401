import type { SQL } from 'drizzle-orm'
import { groupOwners } from '../../fleet/placement-group-records/model.ts'
import { ownedVisibleTo } from '../../identity/account-records/owned.ts'
import type { Actor } from '../../kernel/api/actor.ts'

export const visibleTo = (actor: Actor): SQL | undefined => ownedVisibleTo(actor, groupOwners)
