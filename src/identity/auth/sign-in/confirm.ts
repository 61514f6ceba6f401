// Confirming one's identity again: changes that an unlocked screen must not allow require it when the last time is more
// than ten minutes ago.

import { Type as t } from 'typebox'
import { ApiError } from '../../../kernel/api/errors.ts'
import { CONFIRMED_MS } from '../../../kernel/api/gate.ts'
import { fields, operation, secret, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import { type Tx, write } from '../../../kernel/db/open.ts'
import { ownAccount } from '../../account-records/model.ts'
import { accountIfPasswordUnchanged, passwordFits } from '../passwords/hash.ts'
import { mfaProofs, mustBeOneProof, verifyMfaProof } from '../second-factors/mfa-proof.ts'
import { newPasskeyChallenge, options, requestFor } from '../second-factors/passkeys.ts'
import { own } from '../second-factors/second-factors.ts'
import { sessionCookie } from '../sessions/cookies.ts'
import { mustStillBeOpen, ownSessionId, rotateToken, SESSION_SECONDS } from '../sessions/sessions.ts'
import { sessionThrottleKey, throttled } from './sign-in-throttle.ts'

export const confirmSession = operation({
  id: 'sessions.confirm',
  method: 'POST',
  path: '/sessions/current/confirm',
  summary: 'Confirm who you are: with the password, a code of the authenticator app, or a passkey. Good for 10 minutes',
  past: 'Confirmed who it is',
  access: own,
  requiresSession: true,
  withoutSecondFactor: true,
  authAttempt: true,
  body: fields({
    password: t.Optional(secret(t.String({ minLength: 1, maxLength: 200 }))),
    code: mfaProofs.code,
    passkey: mfaProofs.passkey,
  }),
  response: t.Object({ until: time }),
  refuses: ['sign_in_failed', 'rate_limited'],
  example: { password: 'correct horse battery staple' },
  async prepare(call) {
    const { db, actor, body } = call
    const sessionId = ownSessionId(actor)
    mustBeOneProof(body)
    const account = ownAccount(db, actor)
    const { password, ...mfaProof } = body
    const check = async () => {
      if (password === undefined)
        return verifyMfaProof(call, account, mfaProof, { holder: sessionId, purpose: 'confirm' })
      const fits = await passwordFits(password, account.passwordHash, true)
      return fits ? (tx: Tx) => accountIfPasswordUnchanged(tx, account) !== undefined : undefined
    }
    const use = await throttled(call, sessionThrottleKey(sessionId), account, check)
    if (!use) throw doesNotFit().of(account)
    return { account, use }
  },
  /** The session gets a new token. The CSRF token of pages stays, so that the open page stays usable. */
  run({ tx, actor, prepared: { account, use }, clock, config, setCookie }) {
    if (!use(tx)) throw doesNotFit().of(account)
    mustStillBeOpen(tx, actor)
    const now = clock()
    const value = rotateToken(tx, ownSessionId(actor), { confirmedAt: now })
    setCookie(sessionCookie(config.origin, value, SESSION_SECONDS))
    return { until: iso(now + CONFIRMED_MS) }
  },
})

const doesNotFit = () =>
  new ApiError('sign_in_failed', 'That password, code or passkey is not right. Nothing was changed. Try again.')

export const beginConfirm = operation({
  id: 'sessions.confirm-passkey',
  method: 'POST',
  path: '/sessions/current/confirm/passkey',
  summary: 'What the browser needs to confirm with a passkey who you are',
  past: 'Began to confirm with a passkey',
  access: own,
  requiresSession: true,
  withoutSecondFactor: true,
  response: options,
  refuses: ['not_possible'],
  async prepare(call) {
    const challenge = write(call.db, (tx) => newPasskeyChallenge(tx, ownSessionId(call.actor), 'confirm', call.clock()))
    return requestFor(call, ownAccount(call.db, call.actor).id, challenge, true)
  },
  run: ({ prepared }) => ({ options: prepared }),
})
