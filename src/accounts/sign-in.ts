import { Type as t } from 'typebox'
import { sessionOf } from '../kernel/api/actor.ts'
import { auditLine } from '../kernel/api/audit.ts'
import { Refusal } from '../kernel/api/errors.ts'
import { visitor } from '../kernel/api/invoke.ts'
import { addressKey } from '../kernel/api/limits.ts'
import { done, fields, operation, secret } from '../kernel/api/operation.ts'
import { write } from '../kernel/db/open.ts'
import { accountByEmail } from './account.ts'
import { passwordFits } from './passwords.ts'
import { endSession, openSession, SESSION_SECONDS, sessionCookie } from './sessions.ts'

export const signIn = operation({
  id: 'sessions.create',
  method: 'POST',
  path: '/sessions',
  summary: 'Sign in with e-mail address and password; answers a cookie',
  access: 'anyone',
  body: fields({ email: t.String({ maxLength: 254 }), password: secret(t.String({ minLength: 1, maxLength: 200 })) }),
  answer: t.Object({ accountId: t.String(), kind: t.String(), home: t.String() }),
  status: 201,
  refuses: ['sign_in_failed', 'rate_limited'],
  example: { email: 'ada@example.com', password: 'correct horse battery staple' },
  /** The same words and the same time whether the account exists, has no password, or the password is wrong. */
  async prepare({ tx, body, from, signIns, clock, requestId }) {
    signIns.take(addressKey(from))
    const account = accountByEmail(tx, body.email.trim())
    if ((await passwordFits(body.password, account?.passwordHash)) && account?.disabledAt === null) return account
    write(tx, (tx) =>
      auditLine(
        tx,
        { clock },
        {
          actor: account ? { ...visitor, accountId: account.id, name: account.name } : visitor,
          operation: 'sessions.create',
          target: account?.id ?? null,
          from,
          requestId,
          result: 'sign_in_failed',
          details: null,
        },
      ),
    )
    throw new Refusal('sign_in_failed', 'E-mail address and password do not fit together. Check both, or ask for a new password.')
  },
  run({ tx, prepared: account, clock, from, userAgent, config, setCookie }) {
    setCookie(sessionCookie(config.origin, openSession(tx, account, { now: clock(), from, userAgent }), SESSION_SECONDS), account)
    return { accountId: account.id, kind: account.kind, home: homeOf(account.kind) }
  },
})

/** Where a kind of account starts. */
export const homeOf = (kind: string) => (kind === 'staff' ? '/admin' : '/')

export const signOut = operation({
  id: 'sessions.end',
  method: 'DELETE',
  path: '/sessions/current',
  summary: 'Sign out',
  access: { staff: ['account:write'], reseller: ['account:write'], customer: ['account:write'] },
  inPerson: true,
  inSupport: true,
  answer: done,
  run({ tx, actor, config, setCookie }) {
    const session = sessionOf(actor)
    if (session) endSession(tx, session.sessionId)
    setCookie(sessionCookie(config.origin, '', 0))
    return {}
  },
})
