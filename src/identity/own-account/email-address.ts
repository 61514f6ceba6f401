// The own e-mail address changes once the link that was mailed to the new one is opened.
import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { done, fields, operation, secret } from '../../kernel/api/operation.ts'
import { mailTo } from '../../kernel/mail/mail.ts'
import { mailAddress, mailField, refuseTaken } from '../account-records/model.ts'
import { tellOldAddress } from '../account-records/new-address.ts'
import { accountByEmail, updateAccount } from '../account-records/queries.ts'
import { consumeLink, makeLink } from '../auth/links/links.ts'
import { mustKnowPassword, mustStillKnowPassword, typedPassword } from './password-check.ts'

export const changeEmail = operation({
  id: 'account.email',
  method: 'PUT',
  path: '/account/email',
  summary: 'Change the own e-mail address: it takes effect once the link mailed to it is opened',
  past: 'Requested another e-mail address',
  access: everybody('account:write'),
  requiresSession: true,
  authAttempt: true,
  body: fields({ email: mailField, password: typedPassword }),
  response: done,
  refuses: ['rate_limited'],
  example: { email: 'ada@example.net', password: 'correct horse battery staple' },
  async prepare(call) {
    mailAddress(call.body.email)
    return mustKnowPassword(call, call.body.password, 'password')
  },
  /** The response does not tell whether another account has the address; only a mail to that address does. */
  run(call) {
    const { tx, actor, body, clock, prepared } = call
    const account = mustStillKnowPassword(tx, actor, prepared, 'password')
    const email = mailAddress(body.email)
    if (email === account.email) throw invalid({ field: 'email', message: 'is already your address.' })
    mailTo(tx, call, account, {
      subject: 'Your e-mail address is about to change',
      paragraphs: [
        'Somebody who is signed in as you asked for another e-mail address for your account. It changes once ' +
          'the new one is confirmed.',
      ],
      closing:
        'If this was not you, choose a new password at once with "Forgot your password?" on the sign-in page: ' +
        'it ends every session, and this change too.',
    })
    if (accountByEmail(tx, email)) return {}
    const link = makeLink(tx, { purpose: 'email', account, data: email, now: clock() })
    mailTo(
      tx,
      call,
      { ...account, email },
      {
        subject: 'Confirm your e-mail address',
        paragraphs: [`From now on you sign in with ${email}, once you have confirmed it.`],
        button: { words: 'Confirm this address', ...link },
        closing: 'The link works once, for a day. If you did not ask for this, ignore this mail.',
      },
    )
    return {}
  },
})

export const confirmEmail = operation({
  id: 'account.confirm-email',
  method: 'POST',
  path: '/account/email/confirm',
  summary: 'Confirm the new e-mail address with the link mailed to it',
  past: 'Confirmed the e-mail address',
  access: 'anyone',
  authAttempt: true,
  body: fields({ token: secret(t.String({ minLength: 1, maxLength: 100 })) }),
  response: t.Object({ email: t.String() }),
  refuses: ['link_not_valid', 'email_taken', 'rate_limited'],
  example: { token: '<token>' },
  run(call) {
    const { tx, body, clock } = call
    const { account, data } = consumeLink(tx, ['email'], body.token, clock())
    try {
      tellOldAddress(tx, call, account, updateAccount(tx, account, { email: data!, emailPending: false }))
    } catch (error) {
      refuseTaken(error)
    }
    return { email: data! }
  },
})
