// Mail is written in the transaction of the change that it tells about, and leaves through the delivery queue.
import type { AppContext } from '../api/operation.ts'
import { day, hour, minute, second } from '../db/clock.ts'
import type { Tx } from '../db/open.ts'
import { DeliveryFailed, type DeliveryKind } from '../queue/delivery-kind.ts'
import { queueDelivery } from '../queue/queries.ts'
import type { Brand } from '../web/brand.ts'
import { type MailContent, type MailInput, mailAsText } from './mail-content.ts'
import { mailAsHtml } from './mail-html.tsx'
import { type MailServer, mailServer } from './mail-server.ts'
import { inWords, messageFor, type Rendered, rawReason, sendThrough } from './smtp.ts'

/** Without an id there is no account yet, and the mail comes from the installation. */
export type Recipient = { id?: string; email: string; name: string }

/** `over`: the mail server that this mail leaves by, whatever the settings say later. */
type Queued = { name: string; brand: Brand; mailContent: MailContent; over?: MailServer }

export const mailDelivery: DeliveryKind<Queued> = {
  kind: 'mail',
  retryAfterMs: [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour],
  inFlight: { total: 8, perLane: 4 },
  mostWaiting: { total: 200_000, perLane: 50_000 },
  keepMs: 30 * day,
  timeoutMs: 90 * second,
  expired: 'The link in it expired before it could be sent.',
  ready: ({ db, secrets }) => mailServer(db, secrets) !== undefined,
  async deliver({ db, secrets, config }, { id, recipient, subject, payload: { over, ...mail } }, signal) {
    const server = over ?? mailServer(db, secrets)
    if (!server) throw new Error('there is no mail server')
    const { unsubscribe } = mail.mailContent
    const message = messageFor(server, id, {
      to: recipient,
      subject,
      ...rendered({ ...mail, publicUrl: config.publicUrl }),
      ...(unsubscribe && { unsubscribe: config.publicUrl + unsubscribe }),
    })
    await sendThrough(server, config.localServices, message, signal).catch((error) => {
      const about = { server: `${server.host}:${server.port}`, said: rawReason(error) }
      throw new DeliveryFailed(inWords(error, server), { about, cause: error })
    })
  },
}

/** The parts of an operation's call that `mailTo` uses. */
export type MailContext = Pick<AppContext, 'secrets' | 'clock' | 'brandFor'>

/**
 * Writes to a person, in the caller's transaction and as the brand that this person sees. The
 * address has passed `mailAddress`. `over`: the mail server to use in place of the one in the settings.
 *
 * Answers the id of the delivery.
 *
 * `mailTo(tx, call, owner, { subject: '…', paragraphs: ['…'], button: { words: 'Open', path: '/servers/…' } })`
 */
export function mailTo(
  tx: Tx,
  { secrets, clock, brandFor }: MailContext,
  to: Recipient,
  mailContent: MailContent,
  { over }: { over?: MailServer } = {},
): string {
  const brand = brandFor(tx, to.id ?? '')
  return queueDelivery(
    tx,
    mailDelivery,
    { secrets, now: clock() },
    {
      // The mail of one reseller's customers never delays the mail of another's, nor does a server that was replaced.
      lane: over ? `${over.host}:${over.port}` : brand.name,
      recipient: to.email,
      subject: mailContent.subject,
      // Rendered when it leaves: the change that it tells about does not wait for that.
      payload: { name: to.name, brand, mailContent, ...(over && { over }) },
      until: mailContent.button?.expiresAt ?? null,
    },
  )
}

/** The mail as text and as HTML, from the sender of this brand. */
export const rendered = (input: MailInput): Rendered => ({
  from: input.brand.sender,
  text: mailAsText(input),
  html: mailAsHtml(input),
})
