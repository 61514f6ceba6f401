// A notice is written in the transaction of what it is about: it stands in the person's list and goes out by mail, as
// far as the person has not turned these off for its kind.
import type { AccountKind } from '../../kernel/api/access.ts'
import { newId } from '../../kernel/db/ids.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { type MailContext, mailTo } from '../../kernel/mail/mail.ts'
import type { MailContent } from '../../kernel/mail/mail-content.ts'
import type { Declared } from '../../kernel/register.ts'
import { choiceOf, dropNoticesAbout, insertNotice, type NoticeChoice } from './queries.ts'

/** One kind of notice, as a feature declares it. */
export type NoticeDeclaration = {
  /** Completes "Tell me when …". */
  when: string
  /** The kinds of accounts that get it. */
  kinds: readonly AccountKind[]
  /** Of staff only those get it whose role gives this right: a permission or a scope. */
  right?: string
  /** `always`: it cannot be turned off, because whoever misses one loses something. */
  mail: 'optional' | 'always'
  /** It is about a location, and a person may choose the locations of which it comes. */
  byLocation?: true
  /** Something is down until its state is over: while nobody has read it, it is marked in red on every page. */
  isOutage?: true
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
  notifyInPanel(tx, app, to, kind, notice)
  return isMailed ? notifyByMail(tx, app, to, kind, notice, more) : null
}

/**
 * The notice in the list alone. `about`: a state that it is about, which `endNotices` ends; an earlier notice to the
 * account about the same gives way to it.
 */
export function notifyInPanel(
  tx: Tx,
  { clock }: Pick<MailContext, 'clock'>,
  to: Pick<Holder, 'id'>,
  kind: NoticeKind,
  { subject, paragraphs, button }: Notice,
  about: string | null = null,
) {
  if (!choiceOf(tx, to.id, kind).inPanel) return
  if (about !== null) dropNoticesAbout(tx, to.id, about)
  insertNotice(tx, {
    id: newId('ntc'),
    accountId: to.id,
    kind,
    subject,
    words: paragraphs.join('\n'),
    href: button.path,
    createdAt: clock(),
    readAt: null,
    about,
  })
}

/** The mail alone. Answers the id of its delivery; null where the person wants none. */
export function notifyByMail(
  tx: Tx,
  app: MailContext,
  to: Holder,
  kind: NoticeKind,
  notice: Notice,
  more: Pick<MailContent, 'unsubscribe' | 'closing'> = {},
): string | null {
  return choiceOf(tx, to.id, kind).byMail ? mailTo(tx, app, to, { ...notice, ...more }) : null
}

/** Is a notice about this location among those that the person chose? */
export const isAboutChosen = ({ locationIds }: Pick<NoticeChoice, 'locationIds'>, locationId: string): boolean =>
  !locationIds.length || locationIds.includes(locationId)
