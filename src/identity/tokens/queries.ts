import { type Db, prepared, type Tx } from '../../kernel/db/open.ts'
import { reference } from '../../kernel/db/reference.ts'
import { tokens } from './tables.ts'

export const tokenReference = reference(tokens, ['name', 'accountId'])

/** A token as the check of a request needs it; `scopes` and `allow` are JSON. */
export type TokenRow = {
  id: string
  accountId: string
  name: string
  scopes: string
  allow: string
  expiresAt: number | null
  usedAt: number | null
}
type Ending = { name: string; expiresAt: number }

// Raw and prepared, because each API call runs the first: preparing it anew costs eight times as much as running it.
const statements = prepared(({ $client }) => ({
  byHash: $client.prepare<TokenRow, [string, number]>(
    `SELECT id, account_id AS accountId, name, scopes, allow, expires_at AS expiresAt, used_at AS usedAt
     FROM tokens WHERE (token_hash = ?1 OR (previous_hash = ?1 AND previous_until > ?2)) AND revoked_at IS NULL`,
  ),
  used: $client.prepare<unknown, [number, string, string]>('UPDATE tokens SET used_at = ?, used_from = ? WHERE id = ?'),
  ending: $client.prepare<Ending, [string, number, number, number, number, number]>(
    `SELECT name, expires_at AS expiresAt FROM tokens WHERE account_id = ?1 AND revoked_at IS NULL AND expires_at < ?3
     AND (expires_at > ?2 OR (expires_at > ?4 AND used_at > expires_at - ?5)) ORDER BY expires_at LIMIT ?6`,
  ),
}))

/** The token that is not revoked, by its hash or, while it is still accepted, by the hash before its rotation. */
export const tokenByHash = (tx: Db, hash: string, now: number): TokenRow | null => statements(tx).byHash.get(hash, now)
export const markTokenUsed = (tx: Tx, id: string, now: number, from: string) =>
  void statements(tx).used.run(now, from, id)

/**
 * Tokens of the account that expire before `until`, or that expired after `since` and were used in the last `inUseMs` before
 * their end. All in milliseconds; the first to expire first.
 */
export const endingTokensOf = (
  tx: Db,
  accountId: string,
  { now, until, since, inUseMs, limit }: { now: number; until: number; since: number; inUseMs: number; limit: number },
): Ending[] => statements(tx).ending.all(accountId, now, until, since, inUseMs, limit)
