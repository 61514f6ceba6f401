// Mail leaves through a queue in the database: written in the transaction of what it tells about, sent later, tried again when the
// mail server does not take it. Bodies are sealed: a mail may hold a link that lets its reader in.
import { createTransport, type Transporter } from 'nodemailer'
import { type Static, Type as t } from 'typebox'
import { fits } from '../api/validate.ts'
import { type Clock, hour, minute } from '../db/clock.ts'
import { newId } from '../db/ids.ts'
import { type Db, prepared, type Tx, write } from '../db/open.ts'
import { inserting } from '../db/rows.ts'
import { mails } from '../jobs/tables.ts'
import { log } from '../log.ts'
import type { Secrets } from '../secrets.ts'

/** How Berth reaches the operator's mail server; sealed in the settings. */
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

export type Mail = { to: string; subject: string; text: string }

/** After these pauses a mail that was not taken is tried again; then it has failed. */
const PAUSES_MS = [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]
const AT_ONCE = 10
const SETTING = 'mail.server'

const insert = inserting(mails)

/** In the caller's transaction. `to` has passed `mailAddress`. */
export function queueMail(tx: Tx, { secrets, clock }: { secrets: Secrets; clock: Clock }, { to, subject, text }: Mail) {
  const id = newId('mail')
  const now = clock()
  insert(tx, { id, recipient: to, subject, sealedBody: secrets.seal(id, text), state: 'waiting', tries: 0, nextAt: now, createdAt: now })
}

type Due = { id: string; recipient: string; subject: string; sealedBody: string; tries: number }
const statements = prepared(({ $client }) => ({
  due: $client.prepare<Due, [number]>(
    `SELECT id, recipient, subject, sealed_body AS sealedBody, tries FROM mails WHERE state = 'waiting' AND next_at <= ? ORDER BY next_at LIMIT ${AT_ONCE}`,
  ),
  setting: $client.prepare<{ value: string }, []>(`SELECT value FROM settings WHERE name = '${SETTING}'`),
  keep: $client.prepare('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)'),
  // The body is not needed any more, and what is not kept cannot leak.
  sent: $client.prepare("UPDATE mails SET state = 'sent', sealed_body = '', error = NULL WHERE id = ?"),
  again: $client.prepare('UPDATE mails SET tries = tries + 1, next_at = ?, error = ? WHERE id = ?'),
  failed: $client.prepare("UPDATE mails SET state = 'failed', sealed_body = '', tries = tries + 1, error = ? WHERE id = ?"),
}))

export const keepMailServer = (tx: Tx, secrets: Secrets, server: MailServer) =>
  void statements(tx).keep.run(SETTING, JSON.stringify(secrets.seal(SETTING, JSON.stringify(server))))

/** Undefined until the operator has set one. */
export function mailServer(db: Db, secrets: Secrets): MailServer | undefined {
  const row = statements(db).setting.get()
  const server = row && JSON.parse(secrets.open(SETTING, JSON.parse(row.value)))
  return fits(MailServer, server) ? (server as MailServer) : undefined
}

export class MailQueue {
  private sending: Promise<void> | undefined
  private transport: { of: string; it: Transporter } | undefined

  constructor(private of: { db: Db; secrets: Secrets; clock: Clock }) {}

  /** Sends what is due; joins a round that is under way. Without a mail server mails wait, and Needs attention says so. */
  send = (): Promise<void> => (this.sending ??= this.round().finally(() => (this.sending = undefined)))

  private async round() {
    const { db, secrets, clock } = this.of
    const server = mailServer(db, secrets)
    if (!server) return
    for (const mail of statements(db).due.all(clock())) {
      try {
        await this.to(server).sendMail(envelope(server, mail, secrets.open(mail.id, mail.sealedBody)))
        write(db, (tx) => void statements(tx).sent.run(mail.id))
      } catch (error) {
        this.later(mail, (error as Error).message)
      }
    }
  }

  private later(mail: Due, why: string) {
    const { db, clock } = this.of
    const pause = PAUSES_MS[mail.tries]
    const error = why.slice(0, 300)
    log.warning('a mail was not taken', { mailId: mail.id, error, again: pause !== undefined })
    write(
      db,
      (tx) =>
        void (pause === undefined ? statements(tx).failed.run(error, mail.id) : statements(tx).again.run(clock() + pause, error, mail.id)),
    )
  }

  private to(server: MailServer): Transporter {
    const of = JSON.stringify(server)
    if (this.transport?.of !== of) this.transport = { of, it: transportTo(server) }
    return this.transport.it
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

/** Addresses go in as objects beside an explicit envelope: a string would be parsed, and a name with a comma is two recipients. */
const envelope = (server: MailServer, { id, recipient, subject }: Due, text: string) => ({
  from: { name: 'Berth', address: server.from },
  to: { name: '', address: recipient },
  envelope: { from: server.from, to: [recipient] },
  subject,
  text,
  messageId: `<${id}@${server.from.split('@')[1] ?? 'berth.invalid'}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
})
