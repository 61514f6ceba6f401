// When the address of an account changes, the old address gets a mail: nobody loses an account without notice.
import type { Tx } from '../../kernel/db/open.ts'
import { type MailContext, mailTo } from '../../kernel/mail/mail.ts'
import type { Account } from './tables.ts'

/** Mails the previous address, unless it is the same. Returns the account as it is now. */
export function tellOldAddress(tx: Tx, app: MailContext, before: Account, now: Account): Account {
  if (before.email !== now.email)
    mailTo(
      tx,
      app,
      { ...now, email: before.email },
      {
        subject: 'The e-mail address of your account was changed',
        paragraphs: [
          `It is now ${now.email}: you sign in with this address, and mail about your account goes there.`,
          'Links that were mailed to this address before no longer work.',
        ],
        closing: 'If you did not ask for this, contact your administrator or provider at once.',
      },
    )
  return now
}
