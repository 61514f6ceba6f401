// A first password, and a new one for a password that was forgotten: both by a link in a mail, both ending in the same call.
import { asc, eq } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { ApiError } from '../../../kernel/api/errors.ts'
import { done, fields, operation, secret } from '../../../kernel/api/operation.ts'
import { hour } from '../../../kernel/db/clock.ts'
import { type Db, write } from '../../../kernel/db/open.ts'
import type { MailContext } from '../../../kernel/mail/mail.ts'
import { accountByEmail, customer } from '../../accounts/model.ts'
import { completeSignIn, signedIn } from '../complete-sign-in.ts'
import { keepPassword, sendReset, sendWelcome } from '../passwords/change.ts'
import { hashPassword, mustBeGood } from '../passwords/hash.ts'
import { resetRequests } from '../tables.ts'
import { consumeLink, linkFrom, linkNotValid, linksSince } from './links.ts'

export const inviteCustomer = operation({
  id: 'customers.invite',
  method: 'POST',
  path: '/customers/{id}/actions/invite',
  summary: 'Mail a customer without a password a link to choose one; an earlier link ends',
  access: { staff: ['customers:write'], reseller: ['reseller:customers'] },
  on: customer,
  response: done,
  refuses: ['already_done'],
  run({ tx, target, ...app }) {
    if (target.passwordHash)
      throw new ApiError(
        'already_done',
        `${target.name} has already chosen a password. If it is forgotten, the sign-in page mails a link.`,
      )
    sendWelcome(tx, app, target)
    return {}
  },
})

// ---------------------------------------------------------------- a forgotten password
/** So many mails an account gets in an hour, however often somebody asks. */
const RESETS_PER_HOUR = 3

export const requestReset = operation({
  id: 'password-resets.create',
  method: 'POST',
  path: '/password-resets',
  summary: 'Ask for a link to choose a new password; the answer is the same whether or not the address has an account',
  access: 'anyone',
  authAttempt: true,
  body: fields({ email: t.String({ minLength: 1, maxLength: 254 }) }),
  response: done,
  refuses: ['rate_limited'],
  example: { email: 'ada@example.com' },
  /** Only written down: whether there is such an account is looked up later, so that no answer is slower for one that exists. */
  run({ tx, body, clock }) {
    tx.insert(resetRequests).values({ email: body.email.trim().toLowerCase(), createdAt: clock() }).run()
    return {}
  },
})

/** Mails a link for each request that waits and whose address has an account; the clock calls it. */
export function answerResets(db: Db, app: MailContext) {
  const some = db.select({ id: resetRequests.id }).from(resetRequests).limit(1).get()
  if (!some) return
  write(db, (tx) => {
    for (const { id, email } of tx.select().from(resetRequests).orderBy(asc(resetRequests.id)).limit(100).all()) {
      const account = accountByEmail(tx, email)
      if (
        account &&
        account.disabledAt === null &&
        linksSince(tx, account.id, 'reset', app.clock() - hour) < RESETS_PER_HOUR
      )
        sendReset(tx, app, account)
      tx.delete(resetRequests).where(eq(resetRequests.id, id)).run()
    }
  })
}

// ---------------------------------------------------------------- the password itself
const byMail = ['welcome', 'reset'] as const

export const setPassword = operation({
  id: 'passwords.set',
  method: 'POST',
  path: '/passwords',
  summary: 'Choose a password with the link from a mail, and sign in; every other session ends',
  access: 'anyone',
  authAttempt: true,
  body: fields({
    token: secret(t.String({ minLength: 1, maxLength: 100 })),
    password: secret(t.String({ maxLength: 1000 })),
  }),
  response: signedIn,
  status: 201,
  refuses: ['link_not_valid', 'rate_limited'],
  example: { token: '<token>', password: 'correct horse battery staple' },
  async prepare({ db, body, clock }) {
    const link = linkFrom(db, byMail, body.token, clock())
    if (!link) throw linkNotValid()
    await mustBeGood(body.password, 'password', link.account)
    return hashPassword(body.password)
  },
  run(call) {
    const { tx, body, clock, prepared: passwordHash } = call
    const { account, purpose } = consumeLink(tx, byMail, body.token, clock())
    keepPassword(tx, call, account, passwordHash, { tell: purpose === 'reset' })
    return completeSignIn(call, account)
  },
})
