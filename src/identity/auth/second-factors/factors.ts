// Reads which second factors an account has; second-factors.ts changes them.
import type { Db } from '../../../kernel/db/open.ts'
import { factorCounts } from './queries.ts'

export const factorNames = ['totp', 'passkey', 'recovery'] as const
export type FactorName = (typeof factorNames)[number]

/**
 * The factors that complete a sign-in; none where the password is enough. Recovery codes alone are no second factor.
 */
export function factorsOf(tx: Db, accountId: string): FactorName[] {
  const has = factorCounts(tx, accountId)
  return has.totp || has.passkey ? factorNames.filter((name) => has[name]) : []
}
