import { Type as t } from 'typebox'
import { everybody } from '../../../kernel/api/access.ts'
import { sessionOf } from '../../../kernel/api/actor.ts'
import { done, fields, operation, secret } from '../../../kernel/api/operation.ts'
import type { Account } from '../../account-records/model.ts'
import { accountByEmail } from '../../account-records/queries.ts'
import { accountIfPasswordUnchanged, passwordFits } from '../passwords/hash.ts'
import { sessionCookie } from '../sessions/cookies.ts'
import { endSession } from '../sessions/sessions.ts'
import { completeSignIn, signedIn, signInFailed } from './complete-sign-in.ts'
import { passwordThrottleKey, throttled } from './sign-in-throttle.ts'

export const signIn = operation({
  id: 'sessions.create',
  method: 'POST',
  path: '/sessions',
  summary: 'Sign in with e-mail address and password; answers a cookie, or which second factor comes next',
  past: 'Signed in',
  access: 'anyone',
  body: fields({ email: t.String({ maxLength: 254 }), password: secret(t.String({ minLength: 1, maxLength: 200 })) }),
  response: signedIn,
  status: 201,
  authAttempt: true,
  refuses: ['sign_in_failed', 'rate_limited'],
  example: { email: 'ada@example.com', password: 'correct horse battery staple' },
  /** The same words after the same time, whether the account exists, has no password, or the password is wrong. */
  async prepare(call) {
    const { db, body, client } = call
    const account = accountByEmail(db, body.email.trim())
    const key = passwordThrottleKey(db, body.email, account, client.from)
    const fits = await throttled(call, key, account, () =>
      passwordFits(body.password, account?.passwordHash, key.known),
    )
    if (!fits || !account) throw signInFailed().of(account)
    return account
  },
  /** The check took a while: the password may have changed meanwhile. */
  run: (call) => completeSignIn(call, accountIfPasswordUnchanged(call.tx, call.prepared) ?? refuse(call.prepared)),
})

function refuse(account: Account): never {
  throw signInFailed().of(account)
}

export const signOut = operation({
  id: 'sessions.end',
  destroys: [],
  method: 'DELETE',
  path: '/sessions/current',
  summary: 'Sign out',
  past: 'Signed out',
  access: everybody('account:write'),
  requiresSession: true,
  clearsSiteData: true,
  allowedInSupportSession: true,
  withoutSecondFactor: true,
  response: done,
  run({ tx, actor, config, setCookie }) {
    const session = sessionOf(actor)
    if (session) endSession(tx, session.sessionId)
    setCookie(sessionCookie(config.origin, '', 0))
    return {}
  },
})
