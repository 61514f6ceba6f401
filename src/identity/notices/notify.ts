// A notice is written in the transaction of what it is about: it stands in the person's list, and goes out by mail
// unless the person turned the mails of its kind off.
import type { AccountKind } from '../../kernel/api/access.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { type MailContext, mailTo } from '../../kernel/mail/mail.ts'
import type { MailContent } from '../../kernel/mail/mail-content.ts'
import type { Declared } from '../../kernel/register.ts'
import { insertNotice, isWithoutMail } from './queries.ts'

/** One kind of notice, as a feature declares it. */
export type NoticeDeclaration = {
  /** Completes "Mail me when …". */
  when: string
  /** The kinds of accounts that get it. */
  kinds: readonly AccountKind[]
  /** `always`: its mails cannot be turned off, because whoever misses one loses something. */
  mail: 'optional' | 'always'
}

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Kinds of notices by name; declare them in `Names` too. */
    notices?: Readonly<Record<string, NoticeDeclaration>>
  }
}

export type NoticeKind = keyof Declared<'notices'> & string
/** The subject is a sentence without its full stop. `button.path` is where the notice leads to. */
export type Notice = { subject: string; paragraphs: string[]; button: { words: string; path: `/${string}` } }

/** The account that it is for. */
export type Holder = { id: string; email: string; name: string }

/**
 * Writes a notice for the account, in the caller's transaction. Answers the id of the mail's delivery; null where there
 * is none. `isMailed`: false for one that takes the place of another. The rest of the options is for the mail alone.
 *
 * `notify(tx, app, owner, 'server_ready', { subject: '…', paragraphs: ['…'], button: { words: 'Open', path: '/…' } })`
 */
export function notify(
  tx: Tx,
  app: MailContext,
  to: Holder,
  kind: NoticeKind,
  notice: Notice,
  { isMailed = true, ...more }: Pick<MailContent, 'unsubscribe'> & { isMailed?: boolean } = {},
): string | null {
  const { subject, paragraphs, button } = notice
  insertNotice(tx, {
    id: newId('ntc'),
    accountId: to.id,
    kind,
    subject,
    words: paragraphs.join('\n'),
    href: button.path,
    createdAt: app.clock(),
    readAt: null,
  })
  return !isMailed || isWithoutMail(tx, to.id, kind)
    ? null
    : mailTo(tx, app, to, { subject, paragraphs, button, ...more })
}
