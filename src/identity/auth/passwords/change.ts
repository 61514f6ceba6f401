// The password of an account: the mails that lead to a first or new one, and storing it.

import type { Tx } from '../../../kernel/db/open.ts'
import { type MailContext, mailTo } from '../../../kernel/mail/mail.ts'
import { type Account, withPassword } from '../../account-records/model.ts'
import { updateAccount } from '../../account-records/queries.ts'
import { makeLink } from '../links/links.ts'
import { endLinks } from '../links/queries.ts'
import { endSessionsOf } from '../sessions/sessions.ts'

/**
 * Mails a link to choose the first password with. The holder of an address that another account has too learns how to
 * choose another one; who made the account does not learn of it.
 */
export function sendWelcome(tx: Tx, app: MailContext, account: Account) {
  const now = app.clock()
  const link = makeLink(tx, { purpose: 'welcome', account, now })
  updateAccount(tx, account, { welcomedAt: now })
  mailTo(tx, app, account, {
    subject: 'Your account is ready',
    paragraphs: account.emailPending
      ? secondAccount(account)
      : [
          `An account was created for you. Sign in with this address, ${account.email}, once you have chosen a ` +
            'password.',
        ],
    button: { words: 'Choose a password', ...link },
    closing:
      'The link works once, for 7 days. After that, "Forgot your password?" on the sign-in page ' +
      'mails you a new one. If you did not expect an account, ignore this mail.',
  })
}

const secondAccount = ({ email }: Account) => [
  `A second account was created for you with this address, ${email}. You already sign in to another account with it, ` +
    'and that account stays as it is.',
  'To use the new account, choose a password for it here. Then choose another e-mail address for it on its page ' +
    'Account: from then on you sign in with that one.',
]

/** Mails a link to choose a new password with. */
export function sendReset(tx: Tx, app: MailContext, account: Account) {
  const link = makeLink(tx, { purpose: 'reset', account, now: app.clock() })
  mailTo(tx, app, account, {
    subject: 'Choose a new password',
    paragraphs: [
      'Someone, probably you, asked for a new password for your account.',
      ...(account.emailPending ? secondAccount(account) : []),
    ],
    button: { words: 'Choose a new password', ...link },
    closing: 'The link works once, for an hour. If this was not you, ignore this mail: your password stays as it is.',
  })
}

/**
 * Stores the new password and ends every session, except `but`, and every link of the account. `tell`: mails the
 * holder.
 */
export function storePassword(
  tx: Tx,
  app: MailContext,
  account: Account,
  passwordHash: string,
  { tell, but }: { tell: boolean; but?: string },
) {
  withPassword(tx, account, passwordHash)
  endSessionsOf(tx, account.id, but)
  endLinks(tx, account.id, app.clock())
  if (tell)
    mailTo(tx, app, account, {
      subject: 'Your password was changed',
      paragraphs: ['The password of your account was changed just now, and every other session was ended.'],
      closing: 'If this was not you, choose a new one at once with "Forgot your password?" on the sign-in page.',
    })
}
