import { and, count, eq, inArray, isNull } from 'drizzle-orm'
import type { AccountKind } from '../../kernel/api/access.ts'
import { newest } from '../../kernel/api/list.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { accountReference, roleReference } from '../account-records/queries.ts'
import { accountsWithRole } from '../account-records/roles/queries.ts'
import { tokens } from './tables.ts'

export type Token = typeof tokens.$inferSelect

export const tokenReference = reference(tokens, ['name', 'accountId'])

/** The account's tokens that are not revoked. */
const heldBy = (accountId: string) => and(eq(tokens.accountId, accountId), isNull(tokens.revokedAt))
/** The account's own token of this id, unless it is revoked. */
export const ownToken = (tx: Db, accountId: string, id: string): Token | undefined =>
  tx
    .select()
    .from(tokens)
    .where(and(eq(tokens.id, id), heldBy(accountId)))
    .get()
/** A page of the account's tokens that are not revoked, newest first. */
export const pageOfTokens = <Shown>(call: ReadContext, accountId: string, show: (token: Token) => Shown) =>
  newest({ call, name: 'tokens', table: tokens, where: heldBy(accountId), show })
/** A page of the tokens that are not revoked of everybody with this role, newest first. */
export const pageOfRoleTokens = <Shown>(call: ReadContext, roleId: string, show: (token: Token) => Shown) =>
  newest({
    call,
    name: 'tokens of a role',
    table: tokens,
    where: and(inArray(tokens.accountId, accountsWithRole(call.tx, roleId)), isNull(tokens.revokedAt)),
    show,
  })
export const countTokens = (tx: Db, accountId: string): number =>
  tx.select({ n: count() }).from(tokens).where(heldBy(accountId)).get()!.n

export const insertToken = (tx: Tx, row: typeof tokens.$inferInsert) => void tx.insert(tokens).values(row).run()
export const updateToken = (tx: Tx, id: string, given: Partial<Token>) =>
  void tx.update(tokens).set(given).where(eq(tokens.id, id)).run()
/** Revokes every token of the account, at once and for good. */
export const revokeTokensOf = (tx: Tx, accountId: string, now: number) =>
  void tx.update(tokens).set({ revokedAt: now }).where(heldBy(accountId)).run()

/**
 * A token as the check of a request needs it, with the account that made it and that account's role; `scopes`, `allow`
 * and `permissions` are JSON. Without a role, its two columns are null.
 */
export type TokenRow = {
  id: string
  accountId: string
  name: string
  scopes: string
  allow: string
  expiresAt: number | null
  usedAt: number | null
  kind: AccountKind
  accountName: string
  disabledAt: number | null
  permissions: string | null
  isOwner: number | null
}
type Ending = { name: string; expiresAt: number }

const selectToken = `SELECT t.id, t.account_id AS accountId, t.name, t.scopes, t.allow, t.expires_at AS expiresAt,
    t.used_at AS usedAt,
    ${accountReference.columns('a', { kind: 'kind', accountName: 'name', disabledAt: 'disabledAt' })},
    ${roleReference.columns('r', { permissions: 'permissions', isOwner: 'isOwner' })}
  FROM tokens t ${accountReference.crossJoin('a', 't.account_id')}
  ${roleReference.leftJoin('r', accountReference.column('a', 'roleId'))}
  WHERE t.revoked_at IS NULL`

// Raw and prepared, because each API call runs the first: preparing it anew costs eight times as much as running it.
// One statement takes 5 µs, three by id 12; without the + it is planned anew at each call and takes 25. Both hashes in
// one condition would be two searches at every call.
const statements = prepared(({ $client }) => ({
  byHash: $client.prepare<TokenRow, [string]>(`${selectToken} AND t.token_hash = +?`),
  byPreviousHash: $client.prepare<TokenRow, [string, number]>(
    `${selectToken} AND t.previous_hash = +? AND t.previous_until > +?`,
  ),
  used: $client.prepare<unknown, [number, string, string]>('UPDATE tokens SET used_at = ?, used_from = ? WHERE id = ?'),
  ending: $client.prepare<Ending, [string, number, number, number, number, number]>(
    `SELECT name, expires_at AS expiresAt FROM tokens WHERE account_id = ?1 AND revoked_at IS NULL AND expires_at < ?3
     AND (expires_at > ?2 OR (expires_at > ?4 AND used_at > expires_at - ?5)) ORDER BY expires_at LIMIT ?6`,
  ),
}))

/** The token that is not revoked, by its hash or, while it is still accepted, by the hash before its rotation. */
export const tokenByHash = (tx: Db, hash: string, now: number): TokenRow | null =>
  statements(tx).byHash.get(hash) ?? statements(tx).byPreviousHash.get(hash, now)
export const markTokenUsed = (tx: Tx, id: string, now: number, from: string) =>
  void statements(tx).used.run(now, from, id)

/**
 * Tokens of the account that expire before `until`, or that expired after `since` and were used in the last `inUseMs`
 * before their end. All in milliseconds; the first to expire first.
 */
export const endingTokensOf = (
  tx: Db,
  accountId: string,
  { now, until, since, inUseMs, limit }: { now: number; until: number; since: number; inUseMs: number; limit: number },
): Ending[] => statements(tx).ending.all(accountId, now, until, since, inUseMs, limit)
