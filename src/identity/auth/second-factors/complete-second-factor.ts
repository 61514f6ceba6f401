// The second step of signing in, and signing in with a passkey alone. Both stand on a pending sign-in of the same browser.
import { Type as t } from 'typebox'
import type { ApiError } from '../../../kernel/api/errors.ts'
import { fields, nullable, operation, type PrepareContext, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import { write } from '../../../kernel/db/open.ts'
import type { Account } from '../../accounts/model.ts'
import { accountById } from '../../accounts/model.ts'
import { createSession, signedIn } from '../complete-sign-in.ts'
import {
  closePending,
  openPending,
  pendingFrom,
  secondFactorFailed,
  startAgain,
  takeTry,
} from '../sign-in-challenge.ts'
import { guessAtCode, guessed } from '../sign-in-throttle.ts'
import { factorNames, factorsOf } from './factors.ts'
import { mustBeOne, proofFits, proofs } from './mfa-proof.ts'
import { assertion, holderOf, newChallenge, options, passkeyFits, requestFor } from './passkeys.ts'

/** The account whose first factor this browser has shown; undefined when it was another browser, or too long ago, or none. */
function waiting(call: PrepareContext) {
  const pending = pendingFrom(call.db, call)
  const account = pending?.accountId ? accountById(call.db, pending.accountId) : undefined
  return pending && account ? { pending, account } : undefined
}

function refuse(account: Account | undefined, refusal: ApiError): never {
  throw refusal.of(account)
}

export const getPendingSignIn = operation({
  id: 'sessions.pending',
  method: 'GET',
  path: '/sessions/second-factor',
  summary: 'Ways to finish the sign-in that this browser has begun; empty when there is none',
  access: 'anyone',
  response: t.Object({ secondFactor: t.Array(t.Enum([...factorNames])), until: nullable(time) }),
  run(call) {
    const pending = pendingFrom(call.tx, call)
    return pending?.accountId
      ? { secondFactor: factorsOf(call.tx, pending.accountId), until: iso(pending.expiresAt) }
      : { secondFactor: [], until: null }
  },
})

export const completeSecondFactor = operation({
  id: 'sessions.second-factor',
  method: 'POST',
  path: '/sessions/second-factor',
  summary: 'Finish signing in: a code of the authenticator app, a recovery code, or a passkey',
  access: 'anyone',
  authAttempt: true,
  body: fields(proofs),
  response: signedIn,
  status: 201,
  refuses: ['sign_in_failed', 'rate_limited'],
  example: { code: '123456' },
  async prepare(call) {
    const { db, body, from } = call
    mustBeOne(body)
    const waits = waiting(call) ?? refuse(undefined, startAgain())
    const { account } = waits
    let { pending } = waits
    const check = () => {
      pending = write(db, (tx) => takeTry(tx, pending)) ?? refuse(account, startAgain())
      return proofFits(call, account, body, { holder: pending.tokenHash, purpose: 'sign_in' })
    }
    // A passkey cannot be guessed, so guesses do not slow it down.
    const use = body.passkey ? await check() : await guessed(call, guessAtCode(db, account, from), account, check)
    return { account, pending, use: use ?? refuse(account, secondFactorFailed(pending)) }
  },
  run(call) {
    const { account, pending, use } = call.prepared
    closePending(call.tx, pending, call)
    if (!use(call.tx)) refuse(account, secondFactorFailed(pending))
    return createSession(call, accountById(call.tx, account.id)!)
  },
})

export const beginSecondPasskey = operation({
  id: 'sessions.second-factor-passkey',
  method: 'POST',
  path: '/sessions/second-factor/passkey',
  summary: 'What the browser needs to finish signing in with a passkey',
  access: 'anyone',
  authAttempt: true,
  response: options,
  refuses: ['sign_in_failed', 'not_possible', 'rate_limited'],
  async prepare(call) {
    const { pending, account } = waiting(call) ?? refuse(undefined, startAgain())
    const challenge = write(call.db, (tx) => newChallenge(tx, pending.tokenHash, 'sign_in', call.clock()))
    return requestFor(call, account.id, challenge, account.kind === 'staff')
  },
  run: ({ prepared }) => ({ options: prepared }),
})

export const beginPasskeySignIn = operation({
  id: 'sessions.passkey-begin',
  method: 'POST',
  path: '/sessions/passkey/actions/begin',
  summary: 'What the browser needs to sign in with a passkey alone',
  access: 'anyone',
  authAttempt: true,
  response: options,
  refuses: ['not_possible', 'rate_limited'],
  async prepare(call) {
    const challenge = write(call.db, (tx) =>
      newChallenge(tx, openPending({ ...call, tx }, null), 'sign_in', call.clock()),
    )
    return requestFor(call, undefined, challenge, true)
  },
  run: ({ prepared }) => ({ options: prepared }),
})

/** The key is one factor and what it checked before signing (PIN, finger, face) the other: nothing more is asked. */
export const passkeySignIn = operation({
  id: 'sessions.passkey',
  method: 'POST',
  path: '/sessions/passkey',
  summary: 'Sign in with a passkey alone; answers a cookie',
  access: 'anyone',
  authAttempt: true,
  body: fields({ passkey: assertion }),
  response: signedIn,
  status: 201,
  refuses: ['sign_in_failed', 'rate_limited'],
  example: { passkey: { id: 'AQ', response: { clientDataJSON: 'e30' } } },
  async prepare(call) {
    const found = pendingFrom(call.db, call)
    // Begun with a password is another sign-in: it is finished as its second step or not at all.
    const pending = found?.accountId === null ? write(call.db, (tx) => takeTry(tx, found)) : undefined
    if (!pending) return refuse(undefined, startAgain())
    const { passkey } = call.body
    const key =
      (await passkeyFits(call, passkey, { holder: pending.tokenHash, purpose: 'sign_in', mustVerify: true })) ??
      refuse(holderOf(call.db, passkey), secondFactorFailed(pending))
    return { pending, key }
  },
  run(call) {
    const { pending, key } = call.prepared
    closePending(call.tx, pending, call)
    if (!key.use(call.tx)) throw secondFactorFailed(pending)
    return createSession(call, accountById(call.tx, key.accountId)!)
  },
})
