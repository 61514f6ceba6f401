import { Type as t } from 'typebox'
import { accountByEmail, accountById } from '../accounts/account.ts'
import { everybody } from '../kernel/api/access.ts'
import { sessionOf } from '../kernel/api/actor.ts'
import { auditRefusal } from '../kernel/api/audit.ts'
import { addressKey } from '../kernel/api/limits.ts'
import { done, fields, operation, secret } from '../kernel/api/operation.ts'
import { write } from '../kernel/db/open.ts'
import { finishSignIn, guessingKey, signedIn, signInFailed, tooManyGuesses } from './finish-sign-in.ts'
import { passwordFits } from './passwords.ts'
import { endSession, sessionCookie } from './sessions.ts'

export const signIn = operation({
  id: 'sessions.create',
  method: 'POST',
  path: '/sessions',
  summary: 'Sign in with e-mail address and password; answers a cookie, or which second factor comes next',
  access: 'anyone',
  body: fields({ email: t.String({ maxLength: 254 }), password: secret(t.String({ minLength: 1, maxLength: 200 })) }),
  answer: signedIn,
  status: 201,
  refuses: ['sign_in_failed', 'rate_limited'],
  example: { email: 'ada@example.com', password: 'correct horse battery staple' },
  /** The same words and the same time whether the account exists, has no password, or the password is wrong. */
  async prepare(call) {
    const { db, body, from, signIns, guesses } = call
    signIns.take(addressKey(from))
    const account = accountByEmail(db, body.email.trim())
    const guess = guessingKey(db, body.email, account, from)
    guesses.take(guess, tooManyGuesses)
    const fits = await passwordFits(body.password, account?.passwordHash)
    if (!fits || !account || account.disabledAt !== null) {
      write(db, (tx) => auditRefusal(tx, call, 'sessions.create', account))
      throw signInFailed()
    }
    guesses.forgive(guess)
    return account
  },
  run: (call) => finishSignIn(call, accountById(call.tx, call.prepared.id)!),
})

export const signOut = operation({
  id: 'sessions.end',
  method: 'DELETE',
  path: '/sessions/current',
  summary: 'Sign out',
  access: everybody('account:write'),
  inPerson: true,
  leaves: true,
  inSupport: true,
  withoutSecondFactor: true,
  answer: done,
  run({ tx, actor, config, setCookie }) {
    const session = sessionOf(actor)
    if (session) endSession(tx, session.sessionId)
    setCookie(sessionCookie(config.origin, '', 0))
    return {}
  },
})
