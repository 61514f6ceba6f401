// The second step of signing in, and signing in with a passkey alone. Both need a sign-in challenge of the same
// browser.
import { Type as t } from 'typebox'
import type { ApiError } from '../../../kernel/api/errors.ts'
import { fields, nullable, operation, type PrepareContext, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import { write } from '../../../kernel/db/open.ts'
import type { Account } from '../../account-records/model.ts'
import { accountById } from '../../account-records/queries.ts'
import { factorNames, factorsOf } from '../second-factors/factors.ts'
import { mfaProofs, mustBeOneProof, verifyMfaProof } from '../second-factors/mfa-proof.ts'
import {
  assertion,
  holderOf,
  newPasskeyChallenge,
  options,
  passkeyFits,
  requestFor,
} from '../second-factors/passkeys.ts'
import { createSession, signedIn } from './complete-sign-in.ts'
import {
  challengeFrom,
  closeChallenge,
  mfaProofRefused,
  openChallenge,
  startAgain,
  takeAttempt,
} from './sign-in-challenge.ts'
import { codeThrottleKey, throttled } from './sign-in-throttle.ts'

/** The challenge of this browser with its account; undefined for another browser, an expired challenge, or none. */
function challengeWithAccount(call: PrepareContext) {
  const challenge = challengeFrom(call.db, call)
  const account = challenge?.accountId ? accountById(call.db, challenge.accountId) : undefined
  return challenge && account ? { challenge, account } : undefined
}

function refuse(account: Account | undefined, refusal: ApiError): never {
  throw refusal.of(account)
}

export const getSignInChallenge = operation({
  id: 'sessions.challenge',
  method: 'GET',
  path: '/sessions/second-factor',
  summary: 'Ways to finish the sign-in that this browser has begun; empty when there is none',
  access: 'anyone',
  response: t.Object({ secondFactor: t.Array(t.Enum([...factorNames])), until: nullable(time) }),
  run(call) {
    const challenge = challengeFrom(call.tx, call)
    return challenge?.accountId
      ? { secondFactor: factorsOf(call.tx, challenge.accountId), until: iso(challenge.expiresAt) }
      : { secondFactor: [], until: null }
  },
})

export const completeSecondFactor = operation({
  id: 'sessions.second-factor',
  method: 'POST',
  path: '/sessions/second-factor',
  summary: 'Finish signing in: a code of the authenticator app, a recovery code, or a passkey',
  past: 'Signed in with a second factor',
  access: 'anyone',
  authAttempt: true,
  body: fields(mfaProofs),
  response: signedIn,
  status: 201,
  refuses: ['sign_in_failed', 'rate_limited'],
  example: { code: '123456' },
  async prepare(call) {
    const { db, body, client } = call
    mustBeOneProof(body)
    const found = challengeWithAccount(call) ?? refuse(undefined, startAgain())
    const { account } = found
    let { challenge } = found
    const check = () => {
      challenge = write(db, (tx) => takeAttempt(tx, challenge)) ?? refuse(account, startAgain())
      return verifyMfaProof(call, account, body, { holder: challenge.tokenHash, purpose: 'sign_in' })
    }
    // A passkey cannot be guessed: it is not throttled.
    const use = body.passkey
      ? await check()
      : await throttled(call, codeThrottleKey(db, account, client.from), account, check)
    return { account, challenge, use: use ?? refuse(account, mfaProofRefused(challenge)) }
  },
  run(call) {
    const { account, challenge, use } = call.prepared
    closeChallenge(call.tx, challenge, call)
    if (!use(call.tx)) refuse(account, mfaProofRefused(challenge))
    return createSession(call, accountById(call.tx, account.id)!)
  },
})

export const beginSecondPasskey = operation({
  id: 'sessions.second-factor-passkey',
  method: 'POST',
  path: '/sessions/second-factor/passkey',
  summary: 'What the browser needs to finish signing in with a passkey',
  past: 'Began to sign in with a passkey',
  access: 'anyone',
  authAttempt: true,
  response: options,
  refuses: ['sign_in_failed', 'not_possible', 'rate_limited'],
  async prepare(call) {
    const { challenge, account } = challengeWithAccount(call) ?? refuse(undefined, startAgain())
    const passkeyChallenge = write(call.db, (tx) =>
      newPasskeyChallenge(tx, challenge.tokenHash, 'sign_in', call.clock()),
    )
    return requestFor(call, account.id, passkeyChallenge, account.kind === 'staff')
  },
  run: ({ prepared }) => ({ options: prepared }),
})

export const beginPasskeySignIn = operation({
  id: 'sessions.passkey-begin',
  method: 'POST',
  path: '/sessions/passkey/actions/begin',
  summary: 'What the browser needs to sign in with a passkey alone',
  past: 'Began to sign in with a passkey',
  access: 'anyone',
  authAttempt: true,
  response: options,
  refuses: ['not_possible', 'rate_limited'],
  async prepare(call) {
    const passkeyChallenge = write(call.db, (tx) =>
      newPasskeyChallenge(tx, openChallenge({ ...call, tx }, null), 'sign_in', call.clock()),
    )
    return requestFor(call, undefined, passkeyChallenge, true)
  },
  run: ({ prepared }) => ({ options: prepared }),
})

/** The key is one factor; the PIN, finger or face that it checked before signing is the other. */
export const passkeySignIn = operation({
  id: 'sessions.passkey',
  method: 'POST',
  path: '/sessions/passkey',
  summary: 'Sign in with a passkey alone; answers a cookie',
  past: 'Signed in with a passkey',
  access: 'anyone',
  authAttempt: true,
  body: fields({ passkey: assertion }),
  response: signedIn,
  status: 201,
  refuses: ['sign_in_failed', 'rate_limited'],
  example: { passkey: { id: 'AQ', response: { clientDataJSON: 'e30' } } },
  async prepare(call) {
    const found = challengeFrom(call.db, call)
    // A challenge that began with a password can only be completed as its second step.
    const challenge = found?.accountId === null ? write(call.db, (tx) => takeAttempt(tx, found)) : undefined
    if (!challenge) return refuse(undefined, startAgain())
    const { passkey } = call.body
    const key =
      (await passkeyFits(call, passkey, { holder: challenge.tokenHash, purpose: 'sign_in', mustVerify: true })) ??
      refuse(holderOf(call.db, passkey), mfaProofRefused(challenge))
    return { challenge, key }
  },
  run(call) {
    const { challenge, key } = call.prepared
    closeChallenge(call.tx, challenge, call)
    if (!key.use(call.tx)) throw mfaProofRefused(challenge)
    return createSession(call, accountById(call.tx, key.accountId)!)
  },
})
