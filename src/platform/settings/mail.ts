import { Type as t } from 'typebox'
import { mailAddress, mailField } from '../../identity/account-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { idOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { done, fields, nullable, operation, secret } from '../../kernel/api/operation.ts'
import type { Secrets } from '../../kernel/crypto/secrets.ts'
import { second } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { rendered } from '../../kernel/mail/mail.ts'
import { keepMailServer, type MailServer, mailServer } from '../../kernel/mail/mail-server.ts'
import { sendNow } from '../../kernel/mail/smtp.ts'
import { addressFor, ForbiddenAddress, forOperator } from '../../kernel/net/egress.ts'

const access = { staff: ['settings:write'] } as const
const LOOK_UP_MS = 3 * second

/** Without the password; `hasPassword` tells whether there is one. */
function show(tx: Db, secrets: Secrets) {
  const server = mailServer(tx, secrets)
  if (!server) return { host: null, port: null, tls: false, plain: false, user: null, hasPassword: false, from: null }
  const { password, ...rest } = server
  return { ...rest, hasPassword: password !== null }
}

export const getMail = operation({
  id: 'mail.get',
  method: 'GET',
  path: '/admin/settings/mail',
  summary: 'The mail server that sends for Berth, without its password',
  access,
  response: t.Object({
    host: nullable(t.String()),
    port: nullable(t.Integer()),
    tls: t.Boolean(),
    plain: t.Boolean(),
    user: nullable(t.String()),
    hasPassword: t.Boolean(),
    from: nullable(t.String()),
  }),
  run: ({ tx, secrets }) => show(tx, secrets),
})

/** Part of the login: one line, as mail servers read it. */
const credential = t.String({
  maxLength: 200,
  pattern: '^[^\\x00-\\x1f\\x7f]*$',
  title: 'one line without control characters',
})

export const configureMail = operation({
  id: 'mail.configure',
  method: 'PUT',
  path: '/admin/settings/mail',
  summary:
    'Set the mail server that sends for Berth; waiting mails are sent then. Without a password the one that is ' +
    'kept stays',
  past: 'Changed the mail server',
  access,
  powers: ['moves_secrets', 'gives_access'],
  ownerOnly: 'The mail server that sends invitations and links to new passwords was set.',
  body: fields({
    host: t.String({
      maxLength: 253,
      pattern: '^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$',
      title: 'a host name or address',
    }),
    port: t.Integer({ minimum: 1, maximum: 65_535 }),
    tls: t.Optional(t.Boolean()),
    plain: t.Optional(t.Boolean()),
    user: t.Optional(nullable(credential)),
    password: t.Optional(nullable(secret(credential))),
    from: mailField,
  }),
  response: done,
  example: { host: 'mail.example.com', port: 587, user: 'berth', password: '<password>', from: 'panel@example.com' },
  auditSnapshot: ({ tx, secrets }) => show(tx, secrets),
  /** A name that does not resolve now may do so later: its address is checked again before each mail. */
  async prepare({ body, config }) {
    await Promise.race([addressFor(body.host, forOperator(config.localServices)), Bun.sleep(LOOK_UP_MS)]).catch(
      (error) => {
        if (!(error instanceof ForbiddenAddress)) return
        throw invalid({
          field: 'host',
          message: 'is at an address that must not be called. PANEL_LOCAL_SERVICES can allow a relay on this machine.',
        })
      },
    )
  },
  run({ tx, body, secrets }) {
    const { tls = body.port === 465, plain = false, user = null } = body
    const server = { host: body.host, port: body.port, tls, plain, user, from: mailAddress(body.from, 'from') }
    const password = body.password === undefined ? keptPassword(mailServer(tx, secrets), server) : body.password
    keepMailServer(tx, secrets, { ...server, password })
    return {}
  },
})

/**
 * The stored password is sent only to the server that it was entered for: else a change of the host would disclose it.
 */
function keptPassword(
  kept: MailServer | undefined,
  now: Pick<MailServer, 'host' | 'port' | 'user' | 'plain'>,
): string | null {
  if (!kept?.password || now.user === null) return null
  if (kept.host !== now.host || kept.port !== now.port || kept.user !== now.user || (now.plain && !kept.plain))
    throw invalid({
      field: 'password',
      message: 'is required again: the one that is kept is for another server, user or kind of connection.',
    })
  return kept.password
}

export const testMail = operation({
  id: 'mail.test',
  method: 'POST',
  path: '/admin/settings/mail/test',
  summary: 'Send a test mail to your own address now; answers whether the mail server took it',
  past: 'Sent a test mail',
  access,
  response: t.Object({ to: t.String(), said: t.String() }),
  refuses: ['no_mail_server', 'mail_refused'],
  async prepare({ db, actor, secrets, config, brandFor }) {
    const server = mailServer(db, secrets)
    if (!server) throw new ApiError('no_mail_server', 'There is no mail server yet. Save one first.')
    const to = accountById(db, idOf(actor))
    if (!to) throw new ApiError('invalid_request', 'System has no mail address. Sign in as yourself to send a test.')
    const brand = brandFor(db, to.id)
    const mailContent = {
      subject: 'Test mail',
      paragraphs: [`This mail was sent from the settings. ${brand.name} can send mail through ${server.host}.`],
      button: { words: 'Open the settings', path: '/admin/settings' },
    } as const
    const { sent, said } = await sendNow(server, config.localServices, {
      to: to.email,
      subject: mailContent.subject,
      ...rendered({ mailContent, name: to.name, brand, publicUrl: config.publicUrl }),
    })
    if (!sent) throw new ApiError('mail_refused', said)
    return { to: to.email, said }
  },
  run: ({ prepared }) => prepared,
})
