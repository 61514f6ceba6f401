// Things that belong to an account and have no team: who sees them, and who changes them.
import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Actor } from '../../kernel/api/actor.ts'
import type { Resource } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { customer } from './model.ts'
import { accountById } from './queries.ts'

type Owned = { ownerId: string; resellerId: string | null }
type Names = Pick<Resource<unknown>, 'name' | 'notFound'>

/** The owner, the owner's reseller, and staff who see all servers. */
export const isOwnedVisible = (actor: Actor, { ownerId, resellerId }: Owned): boolean =>
  actor.kind === 'staff'
    ? actor.permissions.has('servers.see_all')
    : ownerId === actor.accountId || (actor.kind === 'reseller' && resellerId === actor.accountId)

/** The same rule for lists; undefined: all. */
export function ownedVisibleTo(
  actor: Actor,
  { ownerId, resellerId }: { ownerId: SQLiteColumn; resellerId: SQLiteColumn },
): SQL | undefined {
  if (actor.kind === 'staff') return actor.permissions.has('servers.see_all') ? undefined : sql`0`
  if (actor.kind === 'customer') return sql`${ownerId} = ${actor.accountId}`
  return sql`(${ownerId} = ${actor.accountId} OR ${resellerId} = ${actor.accountId})`
}

/** A thing that is used with servers: an actor who may see the owner's servers sees it. */
export const ownedResource = <Row extends Owned>(
  names: Names,
  byId: (tx: Db, id: string) => Row | null | undefined,
): Resource<Row> => ({
  ...names,
  find(tx, actor, id) {
    const found = byId(tx, id)
    return found && isOwnedVisible(actor, found) ? found : undefined
  },
})

/**
 * A thing of an account's own library, such as a script: an actor who may see the account sees it. The row is read only
 * for such an actor (security S25), so `ownerOf` reads the owner alone.
 */
export const accountResource = <Row extends { ownerId: string | null }>(
  names: Names,
  ownerOf: (tx: Db, id: string) => string | null | undefined,
  byId: (tx: Db, id: string) => Row | null | undefined,
): Resource<Row> => ({
  ...names,
  find(tx, actor, id) {
    const ownerId = ownerOf(tx, id)
    const canSee = ownerId && (ownerId === actor.accountId || customer.find(tx, actor, ownerId))
    return canSee ? (byId(tx, id) ?? undefined) : undefined
  },
  rights: (tx, actor, { ownerId }) => customer.rights?.(tx, actor, accountById(tx, ownerId!)!),
})

/** The access of calls that read the library of an account. */
export const readsLibrary = {
  staff: ['customers:read'],
  reseller: ['reseller:customers', 'account:read'],
  customer: ['account:read'],
} as const
/** The access of calls that change the library of an account. */
export const changesLibrary = {
  staff: ['customers:write'],
  reseller: ['reseller:customers', 'account:write'],
  customer: ['account:write'],
} as const
