// Visibility of workloads: one rule for one row, for lists and for counts.

import {
  type Deciding,
  decidingRow,
  fromWorkloads,
  type VisibleWorkload,
  visibleRow,
  type Workload,
} from '../../fleet/workloads/queries.ts'
import type { Scope } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Resource } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Where } from '../../kernel/db/rows.ts'
import { isLocked } from '../account-records/queries.ts'
import { isMember, joinShared, roleOn } from './queries.ts'
import { opens, type Role } from './role.ts'

/** `own`: the actor owns the workload or acts for its owner; a role: the owner gave it to the actor. */
export type AccessLevel = 'own' | Role

type Owned = Pick<Deciding, 'id' | 'ownerId' | 'resellerId'>
/** The same rule as `own` and `visible` below, for one row. */
export function accessLevel(tx: Db, actor: Actor, workload: Owned): AccessLevel | undefined {
  if (actor.kind === 'staff' || workload.ownerId === actor.accountId) return 'own'
  if (actor.kind === 'reseller' && workload.resellerId === actor.accountId) return 'own'
  return roleOn(tx, actor.accountId, workload)
}

/**
 * Is the actor a locked customer, or one with whom a locked customer shares the workload? Neither may act on it; staff
 * and the owner's reseller may.
 */
export function isLockedFor(tx: Db, actor: Actor, { ownerId, resellerId }: Omit<Owned, 'id'>): boolean {
  if (actor.kind === 'staff' || (actor.kind === 'reseller' && resellerId === actor.accountId)) return false
  return isLocked(tx, ownerId) || (actor.accountId !== ownerId && isLocked(tx, actor.accountId))
}

/** A terminated workload is gone for everyone but staff. */
export function canSee(tx: Db, actor: Actor, workload: Deciding): boolean {
  if (actor.kind === 'staff') return actor.permissions.has('servers.see_all')
  return workload.terminatedAt === null && accessLevel(tx, actor, workload) !== undefined
}
/** As `canSee`; the owner and the provider also see a terminated workload while it can be brought back. */
export const canSeeEnded = (tx: Db, actor: Actor, workload: Deciding): boolean =>
  canSee(tx, actor, workload) ||
  (actor.kind !== 'staff' && workload.purgeAt !== null && accessLevel(tx, actor, workload) === 'own')

/** The scopes that count on a workload; undefined: all that the actor has. */
export const rightsWith = (level: AccessLevel): ReadonlySet<Scope> | undefined =>
  level === 'own' ? undefined : opens(level)

/**
 * As SQL over `workloads w`: the actor's own and those in the actor's care, without those that others share. None for a
 * token without the scope to read servers, also where it may change one by its id.
 */
export function own(actor: Actor): Where {
  if (!actor.scopes.has('servers:read')) return { where: '0', values: [] }
  if (actor.kind === 'staff') return { where: '1', values: [] }
  if (actor.kind === 'reseller')
    return {
      // A reseller is nobody's customer, so no other account provides what it owns. One index has them in order.
      where: 'coalesce(w.reseller_id, w.owner_id) = +? AND w.terminated_at IS NULL',
      values: [actor.accountId],
    }
  return { where: 'w.owner_id = +? AND w.terminated_at IS NULL', values: [actor.accountId] }
}

/** As SQL over `workloads w`, for lists and counts: they cannot differ from what one workload answers. */
export function visible(tx: Db, actor: Actor): Where {
  const { where, values } = own(actor)
  if (where === '0' || actor.kind === 'staff' || !isMember(tx, actor.accountId)) return { where, values }
  const shared = `SELECT w.id ${fromWorkloads} ${joinShared('w')}`
  // A list of ids keeps the order of the ids; with OR the planner would sort every row before it takes the first fifty.
  return {
    where: `w.id IN (SELECT w.id ${fromWorkloads} WHERE ${where} UNION ALL ${shared}) AND w.terminated_at IS NULL`,
    values: [...values, actor.accountId],
  }
}

const rightsOn = (tx: Db, actor: Actor, row: Deciding) => rightsWith(accessLevel(tx, actor, row)!)

type CanSee = typeof canSee
/**
 * `find` and `rights` of a resource whose rows are workloads of one kind; `sees` is the rule of visibility where it is
 * not `canSee`.
 */
export const workloadResource = <Row extends Workload>(
  byId: (tx: Db, id: string) => Row | undefined,
  sees: CanSee = canSee,
) =>
  ({
    find: (tx, actor, id) => {
      // The few columns that decide come first: the time the answer takes does not show that there is such a workload.
      const deciding = decidingRow(tx, id)
      return deciding && sees(tx, actor, deciding) ? byId(tx, id) : undefined
    },
    rights: rightsOn,
  }) satisfies Pick<Resource<Row>, 'find' | 'rights'>

/** The same for operations that need nothing of the row but who sees it; they find a workload of this kind. */
export const decidingResource = (kind: string, sees: CanSee = canSee) =>
  ({
    find: (tx, actor, id) => {
      const deciding = decidingRow(tx, id)
      return deciding?.kind === kind && sees(tx, actor, deciding) ? deciding : undefined
    },
    rights: rightsOn,
  }) satisfies Pick<Resource<Deciding>, 'find' | 'rights'>

/** The same for the read of one record: its row tells whether a record that was rendered before is still right. */
export const visibleResource = (kind: string, sees: CanSee = canSee) =>
  ({
    find: (tx, actor, id) => {
      const seen = visibleRow(tx, id)
      return seen?.kind === kind && sees(tx, actor, seen) ? seen : undefined
    },
    rights: rightsOn,
  }) satisfies Pick<Resource<VisibleWorkload>, 'find' | 'rights'>
