// The statements of factors that are used once carry their condition themselves: of two at once, one succeeds.
import { and, desc, eq, gt, isNull, lt } from 'drizzle-orm'
import { expiring } from '../../../kernel/db/expiring.ts'
import { type Db, prepared, type Tx } from '../../../kernel/db/open.ts'
import { ownRow, rowBy } from '../../../kernel/db/rows.ts'
import { type Passkey, passkeyChallenges, passkeys, recoveryCodes, totp } from './tables.ts'

export type FactorCounts = { totp: number; passkey: number; recovery: number }
const counts = prepared(({ $client }) =>
  $client.prepare<FactorCounts, { id: string }>(
    `SELECT (SELECT count(*) FROM totp WHERE account_id = $id AND confirmed_at IS NOT NULL) AS totp,
      (SELECT count(*) FROM passkeys WHERE account_id = $id) AS passkey,
      (SELECT count(*) FROM recovery_codes WHERE account_id = $id AND used_at IS NULL) AS recovery`,
  ),
)
/** How many confirmed apps, passkeys and unused recovery codes the account has. */
export const factorCounts = (tx: Db, accountId: string): FactorCounts => counts(tx).get({ id: accountId })!

/** Deletes every factor of the account. */
export function deleteFactorsOf(tx: Tx, accountId: string) {
  for (const table of [totp, passkeys, recoveryCodes]) tx.delete(table).where(eq(table.accountId, accountId)).run()
}

// ---------------------------------------------------------------- recovery codes
export const deleteRecoveryCodes = (tx: Tx, accountId: string) =>
  void tx.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)).run()
export function replaceRecoveryCodes(tx: Tx, accountId: string, hashes: readonly string[], now: number) {
  deleteRecoveryCodes(tx, accountId)
  tx.insert(recoveryCodes)
    .values(hashes.map((hash) => ({ hash, accountId, createdAt: now })))
    .run()
}
const isUnused = (accountId: string, hash: string) =>
  and(eq(recoveryCodes.hash, hash), eq(recoveryCodes.accountId, accountId), isNull(recoveryCodes.usedAt))
export const isRecoveryCodeUnused = (tx: Db, accountId: string, hash: string): boolean =>
  tx.select().from(recoveryCodes).where(isUnused(accountId, hash)).get() !== undefined
/** False when it was used before. */
export const useRecoveryCode = (tx: Tx, accountId: string, hash: string, now: number): boolean =>
  tx.update(recoveryCodes).set({ usedAt: now }).where(isUnused(accountId, hash)).returning().get() !== undefined

// ---------------------------------------------------------------- the authenticator app
export const totpOf = rowBy(totp, totp.accountId)
/** Stores an app that is not confirmed yet, in the place of another one. */
export function insertTotp(tx: Tx, accountId: string, values: Omit<typeof totp.$inferInsert, 'accountId'>) {
  tx.insert(totp)
    .values({ accountId, ...values })
    .onConflictDoUpdate({ target: totp.accountId, set: values })
    .run()
}
/** False when another secret took its place, or it was confirmed before. */
export const confirmTotpRow = (
  tx: Tx,
  accountId: string,
  { secret, step, now }: { secret: string; step: number; now: number },
): boolean =>
  tx
    .update(totp)
    .set({ confirmedAt: now, lastStep: step })
    .where(and(eq(totp.accountId, accountId), eq(totp.secret, secret), isNull(totp.confirmedAt)))
    .returning()
    .get() !== undefined
/** False when the code of this step, or a later one, was used before. */
export const useTotpStep = (tx: Tx, accountId: string, step: number): boolean =>
  tx
    .update(totp)
    .set({ lastStep: step })
    .where(and(eq(totp.accountId, accountId), lt(totp.lastStep, step)))
    .returning()
    .get() !== undefined
/** False when there is none. */
export const deleteTotp = (tx: Tx, accountId: string): boolean =>
  tx.delete(totp).where(eq(totp.accountId, accountId)).returning().get() !== undefined

// ---------------------------------------------------------------- passkeys
export const passkeyByCredentialId = rowBy(passkeys, passkeys.credentialId)
/** The passkey of this id, if it is the account's own. */
export const ownPasskey = ownRow(passkeys, passkeys.accountId)
/** Newest first. */
export const passkeysOf = (tx: Db, accountId: string): Passkey[] =>
  tx.select().from(passkeys).where(eq(passkeys.accountId, accountId)).orderBy(desc(passkeys.id)).all()
/** Throws a unique violation when the credential is stored already. */
export const insertPasskey = (tx: Tx, row: typeof passkeys.$inferInsert) => void tx.insert(passkeys).values(row).run()
/** Records a use; false when the key was used meanwhile, which changed its counter. */
export const usePasskey = (
  tx: Tx,
  { id, counter }: Passkey,
  used: { counter: number; usedAt: number; usedFrom: string },
): boolean =>
  tx
    .update(passkeys)
    .set(used)
    .where(and(eq(passkeys.id, id), eq(passkeys.counter, counter)))
    .returning()
    .get() !== undefined
export const renamePasskeyRow = (tx: Tx, id: string, name: string) =>
  void tx.update(passkeys).set({ name }).where(eq(passkeys.id, id)).run()
export const deletePasskey = (tx: Tx, id: string) => void tx.delete(passkeys).where(eq(passkeys.id, id)).run()

type PasskeyPurpose = (typeof passkeyChallenges.$inferSelect)['purpose']
/** Stores a challenge in the place of the holder's former one, and deletes expired ones. */
export function insertPasskeyChallenge(
  tx: Tx,
  {
    holder,
    purpose,
    now,
    ...values
  }: {
    holder: string
    purpose: PasskeyPurpose
    now: number
    challenge: string
    expiresAt: number
  },
) {
  tx.delete(passkeyChallenges).where(lt(passkeyChallenges.expiresAt, now)).run()
  tx.insert(passkeyChallenges)
    .values({ holder, purpose, ...values })
    .onConflictDoUpdate({ target: [passkeyChallenges.holder, passkeyChallenges.purpose], set: values })
    .run()
}
/** Deletes the challenge and returns it; undefined when there is none, or it expired. */
export const takeChallengeOf = (tx: Tx, holder: string, purpose: PasskeyPurpose, now: number): string | undefined =>
  tx
    .delete(passkeyChallenges)
    .where(
      and(
        eq(passkeyChallenges.holder, holder),
        eq(passkeyChallenges.purpose, purpose),
        gt(passkeyChallenges.expiresAt, now),
      ),
    )
    .returning()
    .get()?.challenge
export const expiredPasskeyChallenges = expiring(passkeyChallenges, (now) => lt(passkeyChallenges.expiresAt, now))
