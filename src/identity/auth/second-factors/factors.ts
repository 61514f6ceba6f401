// Reads which second factors an account has; second-factors.ts changes them.
import { type Db, prepared } from '../../../kernel/db/open.ts'

export const factorNames = ['totp', 'passkey', 'recovery'] as const
export type FactorName = (typeof factorNames)[number]

export const factorCounts = prepared(({ $client }) =>
  $client.prepare<Record<FactorName, number>, { id: string }>(
    `SELECT (SELECT count(*) FROM totp WHERE account_id = $id AND confirmed_at IS NOT NULL) AS totp,
      (SELECT count(*) FROM passkeys WHERE account_id = $id) AS passkey,
      (SELECT count(*) FROM recovery_codes WHERE account_id = $id AND used_at IS NULL) AS recovery`,
  ),
)

/**
 * The factors that complete a sign-in; none where the password is enough. Recovery codes alone are no second factor.
 */
export function factorsOf(tx: Db, accountId: string): FactorName[] {
  const has = factorCounts(tx).get({ id: accountId })!
  return has.totp || has.passkey ? factorNames.filter((name) => has[name]) : []
}
