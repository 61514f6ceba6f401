// Sends one message to one recipient through the mail server, and explains a refusal in plain words.
import { newId } from '../db/ids.ts'
import type { Brand } from '../web/brand.ts'
import type { MailServer } from './mail-server.ts'

/** A mail as it waits in the queue. */
export type Rendered = { from: Brand['sender']; text: string; html: string }
export type Mail = Rendered & { to: string; subject: string }

/** Loads the SMTP library with the first mail. */
export async function transportTo({ host, port, tls, plain, user, password }: MailServer) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
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
}

/**
 * Addresses go in as objects beside an explicit envelope: a string would be parsed, and a name with a comma is two
 * recipients. The envelope's sender is the mail server's own address under every brand, because undeliverable mail
 * returns there.
 * @param id the delivery's id: it becomes the Message-ID, which is the same in every attempt
 */
export const messageFor = (server: MailServer, id: string, { to, subject, from, text, html }: Mail) => ({
  from: { name: oneLine(from.name), address: from.address ?? server.from },
  to: { name: '', address: to },
  envelope: { from: server.from, to: [to] },
  subject: oneLine(subject),
  text,
  html,
  messageId: `<${id}@${server.from.split('@')[1] ?? 'berth.invalid'}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
})

/** Sends past the queue and answers the mail server's response, or why there was none. For the settings page. */
export async function sendNow(server: MailServer, mail: Mail): Promise<{ sent: boolean; said: string }> {
  const transport = await transportTo(server)
  try {
    const { response } = await transport.sendMail(messageFor(server, newId('dlv'), mail))
    return { sent: true, said: oneLine(response).slice(0, 300) }
  } catch (error) {
    return { sent: false, said: inWords(error as Failure, server).slice(0, 500) }
  } finally {
    transport.close()
  }
}

type Failure = Error & { code?: string; response?: string; responseCode?: number; command?: string }
/** The failure in plain words, with the place to look at. */
function inWords({ code, response, message }: Failure, { host, port, tls }: MailServer): string {
  const there = `${host}, port ${port}`
  const said = response ? ` It said: ${oneLine(response)}` : ''
  if (/ssl|tls|certificate|wrong version/i.test(message) && code !== 'EAUTH')
    return tls
      ? `TLS with ${there} failed: ${oneLine(message)}. ` +
          'Port 465 speaks TLS from the start, 587 and 25 only after STARTTLS.'
      : `STARTTLS with ${there} failed: ${oneLine(message)}. ` +
          'The server may not offer it, or its certificate is not for this name.'
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

/** A header is one line, whatever people wrote into it. */
const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim()
