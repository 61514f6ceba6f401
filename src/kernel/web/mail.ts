// Mail leaves through a queue in the database: written in the transaction of what it tells about, sent later, tried again when the
// mail server does not take it. Bodies are encrypted: a mail may hold a link that lets its reader in.
import { createTransport, type Transporter } from 'nodemailer'
import { type Static, Type as t } from 'typebox'
import type { AppContext } from '../api/operation.ts'
import type { Secrets } from '../crypto/secrets.ts'
import { type Clock, hour, minute } from '../db/clock.ts'
import { encryptedColumn } from '../db/encrypted.ts'
import { encryptedSetting } from '../db/encrypted-setting.ts'
import { newId } from '../db/ids.ts'
import { type Db, prepared, type Tx, write } from '../db/open.ts'
import { inserting } from '../db/rows.ts'
import { log } from '../log.ts'
import { type Brand, brandFor } from './brand.ts'
import { letterAsHtml, letterAsText, type MailContent } from './mail-content.ts'
import { mails } from './tables.ts'

/** How Berth reaches the operator's mail server; encrypted in the settings. */
export const MailServer = t.Object({
  host: t.String({ maxLength: 253 }),
  port: t.Integer({ minimum: 1, maximum: 65_535 }),
  /** TLS from the first byte (465); otherwise STARTTLS is required unless `plain`. */
  tls: t.Boolean(),
  plain: t.Boolean(),
  user: t.Union([t.String({ maxLength: 200 }), t.Null()]),
  password: t.Union([t.String({ maxLength: 200 }), t.Null()]),
  from: t.String({ maxLength: 254 }),
})
export type MailServer = Static<typeof MailServer>

type Body = { from: Brand['sender']; text: string; html: string }
export type Mail = Body & { to: string; subject: string; until: number | null }

/** After these pauses a mail that was not taken is tried again; then it has failed. */
const PAUSES_MS = [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]
const AT_ONCE = 10

const insert = inserting(mails)
export const encryptedMails = encryptedColumn(mails, 'encryptedBody', ({ id }: { id: string }) => id)

/** Whom a mail goes to. Without an id there is no account yet, and the mail is the installation's. */
export type Recipient = { id?: string; email: string; name: string }

/**
 * Writes to somebody, in the caller's transaction and as the brand that this somebody sees. The address has passed `mailAddress`.
 * `mailTo(tx, call, owner, { subject: '…', paragraphs: ['…'], button: { words: 'Open the server', path: '/servers/…' } })`
 */
export function mailTo(
  tx: Tx,
  app: Pick<AppContext, 'secrets' | 'clock' | 'config'>,
  to: Recipient,
  mailContent: MailContent,
) {
  queueMail(tx, app, mailOf(brandFor(tx, to.id ?? ''), app.config.publicUrl, to, mailContent))
}

const mailOf = (brand: Brand, publicUrl: string, { email, name }: Recipient, mailContent: MailContent): Mail => {
  const written = { mailContent, name, brand, publicUrl }
  return {
    to: email,
    subject: mailContent.subject,
    until: mailContent.button?.expiresAt ?? null,
    from: brand.sender,
    text: letterAsText(written),
    html: letterAsHtml(written),
  }
}

function queueMail(
  tx: Tx,
  { secrets, clock }: { secrets: Secrets; clock: Clock },
  { to, subject, until, ...body }: Mail,
) {
  const id = newId('mail')
  const now = clock()
  const encryptedBody = secrets.encrypt(encryptedMails.about({ id }), JSON.stringify(body))
  insert(tx, {
    id,
    recipient: to,
    subject,
    encryptedBody,
    state: 'waiting',
    tries: 0,
    nextAt: now,
    until,
    createdAt: now,
  })
}

type Due = { id: string; recipient: string; subject: string; encryptedBody: string; tries: number }
const statements = prepared(({ $client }) => ({
  due: $client.prepare<Due, [number]>(
    `SELECT id, recipient, subject, encrypted_body AS encryptedBody, tries FROM mails WHERE state = 'waiting' AND next_at <= ? ORDER BY next_at LIMIT ${AT_ONCE}`,
  ),
  over: $client.prepare(
    "UPDATE mails SET state = 'failed', encrypted_body = '', error = 'The link in it was over before it could be sent.' WHERE state = 'waiting' AND until <= ?",
  ),
  isOver: $client.prepare("SELECT 1 FROM mails WHERE state = 'waiting' AND until <= ? LIMIT 1"),
  // The body is not needed any more, and what is not kept cannot leak.
  sent: $client.prepare("UPDATE mails SET state = 'sent', encrypted_body = '', error = NULL WHERE id = ?"),
  again: $client.prepare('UPDATE mails SET tries = tries + 1, next_at = ?, error = ? WHERE id = ?'),
  failed: $client.prepare(
    "UPDATE mails SET state = 'failed', encrypted_body = '', tries = tries + 1, error = ? WHERE id = ?",
  ),
}))

const setting = encryptedSetting('mail.server', MailServer)
export const keepMailServer = setting.keep
/** Undefined until the operator has set one. */
export const mailServer = setting.get

export class MailQueue {
  private sending: Promise<void> | undefined
  private transport: { of: string; it: Transporter } | undefined

  constructor(private of: { db: Db; secrets: Secrets; clock: Clock }) {}

  /** Sends what is due; joins a round that is under way. Without a mail server mails wait, and Needs attention says so. */
  send = (): Promise<void> => (this.sending ??= this.round().finally(() => (this.sending = undefined)))

  private async round() {
    const { db, secrets, clock } = this.of
    const now = clock()
    if (statements(db).isOver.get(now)) write(db, (tx) => void statements(tx).over.run(now))
    const server = mailServer(db, secrets)
    if (!server) return
    for (const mail of statements(db).due.all(clock())) {
      try {
        const { id, recipient: to, subject } = mail
        const body = JSON.parse(secrets.open(encryptedMails.about(mail), mail.encryptedBody)) as Body
        await this.to(server).sendMail(envelope(server, id, { to, subject, ...body }))
        write(db, (tx) => void statements(tx).sent.run(mail.id))
      } catch (error) {
        this.later(mail, server, (error as Error).message)
      }
    }
  }

  private later(mail: Due, { host, port }: MailServer, why: string) {
    const { db, clock } = this.of
    const pause = PAUSES_MS[mail.tries]
    const error = why.slice(0, 300)
    const about = { mailId: mail.id, server: `${host}:${port}`, error }
    if (pause === undefined) log.error('a mail was not taken, and is given up', about)
    else log.warning('a mail was not taken and is tried again', { ...about, againInSeconds: pause / 1000 })
    write(
      db,
      (tx) =>
        void (pause === undefined
          ? statements(tx).failed.run(error, mail.id)
          : statements(tx).again.run(clock() + pause, error, mail.id)),
    )
  }

  private to(server: MailServer): Transporter {
    const of = JSON.stringify(server)
    if (this.transport?.of !== of) this.transport = { of, it: transportTo(server) }
    return this.transport.it
  }
}

/**
 * Sends at once, past the queue, and tells what the server said to it.
 * For whoever sets up the server: the address in `to` is their own.
 */
export async function tryMail(
  server: MailServer,
  brand: Brand,
  publicUrl: string,
  to: Recipient,
): Promise<{ sent: boolean; said: string }> {
  const mailContent: MailContent = {
    subject: 'Test mail',
    paragraphs: [`This mail was sent from the settings. ${brand.name} can send mail through ${server.host}.`],
    button: { words: 'Open the settings', path: '/admin/settings' },
  }
  const transport = transportTo(server)
  try {
    const { response } = await transport.sendMail(
      envelope(server, newId('mail'), mailOf(brand, publicUrl, to, mailContent)),
    )
    return { sent: true, said: oneLine(response).slice(0, 300) }
  } catch (error) {
    return { sent: false, said: inWords(error as Failure, server).slice(0, 500) }
  } finally {
    transport.close()
  }
}

type Failure = Error & { code?: string; response?: string; responseCode?: number; command?: string }
/** What went wrong on the way to the mail server, and what to look at. */
function inWords({ code, response, message }: Failure, { host, port, tls }: MailServer): string {
  const there = `${host}, port ${port}`
  const said = response ? ` It said: ${oneLine(response)}` : ''
  if (/ssl|tls|certificate|wrong version/i.test(message) && code !== 'EAUTH')
    return tls
      ? `TLS with ${there} failed: ${oneLine(message)}. Port 465 speaks TLS from the start, 587 and 25 only after STARTTLS.`
      : `STARTTLS with ${there} failed: ${oneLine(message)}. The server may not offer it, or its certificate is not for this name.`
  switch (code) {
    case 'EDNS':
    case 'ENOTFOUND':
      return `There is no host called ${host}. Check the name.`
    case 'EAUTH':
      return `${there} does not accept this user and password.${said}`
    case 'EENVELOPE':
      return `${there} does not take mail from this sender or for this recipient.${said}`
    case 'ETIMEDOUT':
    case 'ECONNECTION':
    case 'ESOCKET':
    case 'ECONNREFUSED':
      return `Nothing that speaks SMTP answers at ${there}. Check host, port and firewall. (${oneLine(message)})`
    default:
      return response ? `${there} did not take the mail.${said}` : `The mail was not taken: ${oneLine(message)}`
  }
}

const transportTo = ({ host, port, tls, plain, user, password }: MailServer) =>
  createTransport({
    host,
    port,
    secure: tls,
    requireTLS: !tls && !plain,
    ignoreTLS: plain,
    ...(user ? { auth: { user, pass: password ?? '' } } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
  })

/**
 * Addresses go in as objects beside an explicit envelope: a string would be parsed, and a name with a comma is two recipients. The
 * envelope is the server's own address, whatever the brand says: that is where mail comes back to that could not be delivered.
 */
const envelope = (server: MailServer, id: string, { to, subject, from, text, html }: Omit<Mail, 'until'>) => ({
  from: { name: oneLine(from.name), address: from.address ?? server.from },
  to: { name: '', address: to },
  envelope: { from: server.from, to: [to] },
  subject: oneLine(subject),
  text,
  html,
  messageId: `<${id}@${server.from.split('@')[1] ?? 'berth.invalid'}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
})

/** A header is one line, whoever wrote it. */
const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim()
