// A first password, and a new one after it was forgotten: both begin with a mailed link and end in the same operation.
import { Type as t } from 'typebox'
import { done, fields, operation, secret } from '../../../kernel/api/operation.ts'
import { hour } from '../../../kernel/db/clock.ts'
import { type Db, write } from '../../../kernel/db/open.ts'
import type { MailContext } from '../../../kernel/mail/mail.ts'
import { accountsWithEmail, pendingToTell } from '../../account-records/queries.ts'
import { consumeLink, linkFrom, linkNotValid } from '../links/links.ts'
import {
  deleteResetRequest,
  insertResetRequest,
  isAnyResetRequest,
  linksSince,
  resetRequestsInOrder,
} from '../links/queries.ts'
import { sendReset, sendWelcome, storePassword } from '../passwords/change.ts'
import { hashPassword, mustBeGood } from '../passwords/hash.ts'
import { completeSignIn, signedIn } from './complete-sign-in.ts'

// ---------------------------------------------------------------- a forgotten password
/** Most mails per account and hour, however often they are requested. */
const RESETS_PER_HOUR = 3

export const requestReset = operation({
  id: 'password-resets.create',
  method: 'POST',
  path: '/password-resets',
  summary: 'Ask for a link to choose a new password; the answer is the same whether or not the address has an account',
  past: 'Requested a password link',
  access: 'anyone',
  authAttempt: true,
  body: fields({ email: t.String({ minLength: 1, maxLength: 254 }) }),
  response: done,
  refuses: ['rate_limited'],
  example: { email: 'ada@example.com' },
  /** Only recorded. The account is looked up later, so that the time of the answer does not tell whether it exists. */
  run({ tx, body, clock }) {
    insertResetRequest(tx, body.email.trim().toLowerCase(), clock())
    return {}
  },
})

/** Mails a link for each waiting request whose address has an account. */
export function mailResetLinks(db: Db, app: MailContext) {
  if (!isAnyResetRequest(db)) return
  write(db, (tx) => {
    for (const { id, email } of resetRequestsInOrder(tx, 100)) {
      for (const account of accountsWithEmail(tx, email))
        if (account.disabledAt === null && linksSince(tx, account.id, 'reset', app.clock() - hour) < RESETS_PER_HOUR)
          sendReset(tx, app, account)
      deleteResetRequest(tx, id)
    }
  })
}

/**
 * Mails those whose address a reseller gave to a second account. Not with the reseller's call, whose time would tell
 * that the address is taken.
 */
export function mailSecondAccounts(db: Db, app: MailContext) {
  const waiting = pendingToTell(db, 100)
  if (waiting.length)
    write(db, (tx) => {
      for (const account of waiting) sendWelcome(tx, app, account)
    })
}

// ---------------------------------------------------------------- the password itself
const byMail = ['welcome', 'reset'] as const

export const setPassword = operation({
  id: 'passwords.set',
  method: 'POST',
  path: '/passwords',
  summary: 'Choose a password with the link from a mail, and sign in; every other session ends',
  past: 'Set a password from the invitation',
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
    storePassword(tx, call, account, passwordHash, { tell: purpose === 'reset' })
    return completeSignIn(call, account)
  },
})
