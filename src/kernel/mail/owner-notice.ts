// Tells every owner of a change that concerns all of them: where credentials and links go, or what belongs to many. The
// mail leaves over the mail server from before the change: a server that somebody put in its place does not see it.
import { type Actor, nameOf } from '../api/actor.ts'
import type { AppContext } from '../api/operation.ts'
import type { Change } from '../audit/changes.ts'
import type { Tx } from '../db/open.ts'
import { log } from '../log.ts'
import { type MailContext, mailTo } from './mail.ts'
import type { MailServer } from './mail-server.ts'

export type OwnerNotice = {
  actor: Actor
  /** A sentence that says what changed. */
  what: string
  /** The caller's address. */
  from: string
  changes?: readonly Change[] | null
  /** It may be the mail server that changed: the mail says over which one it came. */
  isRedirect?: true
}

/**
 * Queues the mail in the transaction of the change. `over`: the mail server from before the change. Without
 * a mail server in force there is nothing to send it over: the audit log and the journal have the change.
 */
export function tellOwners(
  tx: Tx,
  app: MailContext & Pick<AppContext, 'owners'>,
  over: MailServer | undefined,
  notice: OwnerNotice,
) {
  const { actor, what, from, changes, isRedirect } = notice
  if (!over) {
    // A command on the host says on its own terminal what it did.
    if (actor.via.type !== 'system') log.warning('owners are not told by mail: there was no mail server', { what })
    return
  }
  const who = actor.via.type === 'system' ? 'A command on the host of the controller did it.' : by(actor, from)
  for (const owner of app.owners(tx))
    mailTo(
      tx,
      app,
      owner,
      {
        subject: 'A change that affects all owners',
        paragraphs: [what, who, ...(changes ?? []).map(inWords)],
        button: { words: 'Open the audit log', path: '/admin/audit' },
        closing:
          'If no owner meant to do this, sign in at once, undo it, and end the sessions of the account that did it.' +
          (isRedirect ? ' This mail was sent through the previous mail server.' : ''),
      },
      { over },
    )
}

const by = (actor: Actor, from: string) => `${nameOf(actor)} did it${from ? ` from the address ${from}` : ''}.`

const inWords = ({ field, before, after }: Change) => `${field}: ${text(before)} → ${text(after)}`
const text = (value: unknown) =>
  value === null ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value)
