// Sends messages in slices. Each recipient has one row; its mail is queued and its row changed in one transaction, so a
// controller that is killed goes on where it was, and nobody gets a second mail.
import { randomBytes } from 'node:crypto'
import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { notify } from '../../identity/notices/notify.ts'
import { system } from '../../kernel/api/actor.ts'
import type { AppContext, ReadContext } from '../../kernel/api/operation.ts'
import { digest } from '../../kernel/crypto/secrets.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { noteHeld, releaseJob } from '../../kernel/jobs/start.ts'
import { mailTo } from '../../kernel/mail/mail.ts'
import { leftOutReason, NEWS, recipientsOf } from './audience.ts'
import {
  changeMessage,
  changeRecipient,
  insertRecipient,
  type Message,
  type MessageRecipient,
  messagesAtWork,
  recipientCounts,
  waitingRecipients,
} from './queries.ts'
import { filledIn } from './words.ts'

const SLICE = 100

/** One slice of each message whose time has come. */
export function sendMessages(db: Db, app: AppContext) {
  for (const message of messagesAtWork(db, app.clock())) {
    if (message.state === 'scheduled') write(db, (tx) => beginSending(tx, app, message))
    write(db, (tx) => sendSlice(tx, app, message))
  }
}

/** Notes who gets it, as the servers are now. */
export function beginSending(tx: Tx, app: AppContext, message: Message) {
  const call = { ...app, tx, actor: system, query: {}, params: {} } as unknown as ReadContext
  for (const { accountId, filled, leftOut } of recipientsOf(call, message))
    insertRecipient(tx, {
      ...{ messageId: message.id, accountId, filled, reason: leftOut, deliveryId: null, unsubscribeHash: null },
      ...(leftOut === null ? { state: 'waiting', at: null } : { state: 'left_out', at: app.clock() }),
    })
  changeMessage(tx, message.id, { state: 'sending' })
}

function sendSlice(tx: Tx, app: AppContext, message: Message) {
  for (const recipient of waitingRecipients(tx, message.id, SLICE)) sendTo(tx, app, message, recipient)
  const { waiting = 0, sent = 0, left_out = 0 } = recipientCounts(tx, message.id)
  if (!waiting) return void releaseJob(tx, message.jobId!)
  const all = waiting + sent + left_out
  noteHeld(tx, message.jobId!, `${sent} of ${all} sent`, Math.floor((99 * (sent + left_out)) / all))
}

function sendTo(tx: Tx, app: AppContext, message: Message, recipient: MessageRecipient) {
  const at = app.clock()
  const account = accountById(tx, recipient.accountId)
  const reason = account ? leftOutReason(tx, account, message) : 'The account is gone.'
  if (!account || account.kind === 'staff' || reason !== null)
    return changeRecipient(tx, recipient, { state: 'left_out', reason, at })
  const token = message.isService ? undefined : randomBytes(24).toString('base64url')
  const content = {
    ...filledIn(message, recipient.filled),
    button: { words: 'Open your servers', path: `${areas[account.kind]}/servers` as const },
  }
  const more = token === undefined ? {} : { unsubscribe: `/unsubscribe/${token}` as const }
  const kind = message.isService ? 'provider_message' : NEWS
  const deliveryId = message.alsoNotice
    ? notify(tx, app, account, kind, content, more)
    : mailTo(tx, app, account, { ...content, ...more })
  changeRecipient(tx, recipient, {
    ...{ state: 'sent', deliveryId, at, reason: deliveryId === null ? 'As a notice only: no news by mail.' : null },
    unsubscribeHash: token === undefined ? null : digest(token),
  })
}
