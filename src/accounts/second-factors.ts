// What an account has beside its password, and whose role demands it.
import { type Db, prepared } from '../kernel/db/open.ts'
import type { Account } from './tables.ts'

export const factorNames = ['totp', 'passkey', 'recovery'] as const
export type FactorName = (typeof factorNames)[number]

const held = prepared(({ $client }) =>
  $client.prepare<Record<FactorName, number>, { id: string }>(
    `SELECT (SELECT count(*) FROM totp WHERE account_id = $id AND confirmed_at IS NOT NULL) AS totp,
      (SELECT count(*) FROM passkeys WHERE account_id = $id) AS passkey,
      (SELECT count(*) FROM recovery_codes WHERE account_id = $id AND used_at IS NULL) AS recovery`,
  ),
)

/** How many of each there are. */
export const countFactors = (tx: Db, accountId: string) => held(tx).get({ id: accountId })!

/** With which of them a sign-in can be finished; none when the password is all. Recovery codes alone are no second factor. */
export function factorsOf(tx: Db, accountId: string): FactorName[] {
  const has = countFactors(tx, accountId)
  return has.totp || has.passkey ? factorNames.filter((name) => has[name]) : []
}

const demanded = prepared(({ $client }) =>
  $client.prepare<{ one: 1 }, [string]>('SELECT 1 AS one FROM roles WHERE id = ? AND second_factor = 1'),
)

/** Does a role ask for a second factor that is not there yet? Then nothing but setting one up is possible. */
export const lacksSecondFactor = (tx: Db, account: Account): boolean =>
  account.roleId !== null && demanded(tx).get(account.roleId) !== null && !factorsOf(tx, account.id).length
