// The mfaProofs of a second factor: a code of the app, a recovery code, a passkey. Completing a sign-in and confirming
// one's identity verify them in the same way.
import { Type as t } from 'typebox'
import { invalid } from '../../../kernel/api/errors.ts'
import { type PrepareContext, secret } from '../../../kernel/api/operation.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import type { Account } from '../../account-records/model.ts'
import { type Assertion, assertion, passkeyFits } from './passkeys.ts'
import { recoveryCodeFits } from './second-factors.ts'
import { code, codeFits } from './totp.ts'

export const mfaProofs = {
  code: t.Optional(code()),
  recoveryCode: t.Optional(secret(t.String({ minLength: 1, maxLength: 100 }))),
  passkey: t.Optional(assertion),
}
type MfaProof = { code?: string; recoveryCode?: string; passkey?: Assertion }

/** Throws `validation_failed` unless exactly one field is there. */
export function mustBeOneProof(body: object) {
  const names = Object.keys(body)
  if (names.length !== 1)
    throw invalid({
      field: names[1] ?? 'code',
      message: names.length ? 'must be left out: send one proof only.' : 'is required.',
    })
}

/**
 * Answers undefined for a wrong proof, else a function that consumes it inside the transaction and is false when it was
 * consumed meanwhile.
 */
export async function verifyMfaProof(
  {
    db,
    secrets,
    clock,
    wallClock,
    config,
    client,
  }: Pick<PrepareContext, 'db' | 'secrets' | 'clock' | 'wallClock' | 'config' | 'client'>,
  account: Account,
  { code, recoveryCode, passkey }: MfaProof,
  challenge: { holder: string; purpose: 'confirm' | 'sign_in' },
): Promise<((tx: Tx) => boolean) | undefined> {
  if (code !== undefined) return codeFits(db, secrets, account.id, code, { clock, wallClock })
  if (recoveryCode !== undefined) return recoveryCodeFits(db, account.id, recoveryCode, clock())
  if (!passkey) return undefined
  // A touch proves that the key is there, not whose hand it is: enough beside a password, except for staff.
  const mustVerify = account.kind === 'staff' || challenge.purpose === 'confirm'
  return (
    await passkeyFits({ db, config, clock, client }, passkey, { ...challenge, accountId: account.id, mustVerify })
  )?.use
}
