// Which second factors an account has. What is done with them is in second-factors.ts.
import { type Db, prepared } from '../../../kernel/db/open.ts'

export const factorNames = ['totp', 'passkey', 'recovery'] as const
export type FactorName = (typeof factorNames)[number]

export const held = prepared(({ $client }) =>
  $client.prepare<Record<FactorName, number>, { id: string }>(
    `SELECT (SELECT count(*) FROM totp WHERE account_id = $id AND confirmed_at IS NOT NULL) AS totp,
      (SELECT count(*) FROM passkeys WHERE account_id = $id) AS passkey,
      (SELECT count(*) FROM recovery_codes WHERE account_id = $id AND used_at IS NULL) AS recovery`,
  ),
)

/** With which of them a sign-in can be finished; none when the password is all. Recovery codes alone are no second factor. */
export function factorsOf(tx: Db, accountId: string): FactorName[] {
  const has = held(tx).get({ id: accountId })!
  return has.totp || has.passkey ? factorNames.filter((name) => has[name]) : []
}
