// Sends one message to one recipient through the mail server, and explains a refusal in a sentence of ours.
import { isIP } from 'node:net'
import { newId } from '../db/ids.ts'
import { log } from '../log.ts'
import { addressFor, ForbiddenAddress, forOperator } from '../net/egress.ts'
import type { Brand } from '../web/brand.ts'
import type { MailServer } from './mail-server.ts'

/** A mail without its recipient. */
export type Rendered = { from: Brand['sender']; text: string; html: string }
/** `unsubscribe`: the address of the page that ends such mails, for mail programs that offer it. */
export type Mail = Rendered & { to: string; subject: string; unsubscribe?: string }

/** Loads the SMTP library with the first mail. `address`: that of the host, which has passed the policy. */
async function transportTo({ host, port, tls, plain, user, password }: MailServer, address: string) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    host: address,
    port,
    secure: tls,
    requireTLS: !tls && !plain,
    ignoreTLS: plain,
    // The certificate is of the name, not of the address.
    ...(isIP(host) ? {} : { tls: { servername: host } }),
    ...(user ? { auth: { user, pass: password ?? '' } } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
  })
}

type Message = ReturnType<typeof messageFor>
/**
 * Hands one message to the mail server; the host's address is looked up and checked each time. `local`:
 * PANEL_LOCAL_SERVICES. Throws the library's error, or `NoAnswer`.
 */
export async function sendThrough(
  server: MailServer,
  local: readonly string[],
  message: Message,
  signal?: AbortSignal,
) {
  const transport = await transportTo(server, await addressFor(server.host, forOperator(local)))
  const close = () => transport.close()
  signal?.addEventListener('abort', close)
  try {
    return await transport.sendMail(message)
  } finally {
    close()
  }
}

/**
 * Addresses go in as objects beside an explicit envelope: a string would be parsed, and a name with a comma is two
 * recipients. The envelope's sender is the mail server's own address under every brand, because undeliverable mail
 * returns there.
 * @param id the delivery's id: it becomes the Message-ID, which is the same in every attempt
 */
export const messageFor = (server: MailServer, id: string, { to, subject, from, text, html, unsubscribe }: Mail) => ({
  from: { name: oneLine(from.name), address: from.address ?? server.from },
  to: { name: '', address: to },
  envelope: { from: server.from, to: [to] },
  subject: oneLine(subject),
  text,
  html,
  messageId: `<${id}@${server.from.split('@')[1] ?? 'berth.invalid'}>`,
  headers: { 'Auto-Submitted': 'auto-generated', ...(unsubscribe && { 'List-Unsubscribe': `<${unsubscribe}>` }) },
})

/** Sends past the queue, for the settings page. Answers a fixed sentence; the journal has the server's own words. */
export async function sendNow(
  server: MailServer,
  local: readonly string[],
  mail: Mail,
): Promise<{ sent: boolean; said: string }> {
  try {
    const { response } = await sendThrough(server, local, messageFor(server, newId('dlv'), mail))
    log.info('a test mail was taken', {
      server: `${server.host}:${server.port}`,
      said: oneLine(response).slice(0, 300),
    })
    return { sent: true, said: 'The mail server took the mail.' }
  } catch (error) {
    log.warning('a test mail was not taken', { server: `${server.host}:${server.port}`, said: rawReason(error) })
    return { sent: false, said: inWords(error, server) }
  }
}

type Failure = Error & { code?: string; response?: string; message: string }

/** The library's words and the server's, for the journal only. */
export const rawReason = (error: unknown): string => {
  const { message, response } = error as Failure
  return oneLine(`${message}${response && !message.includes(response) ? ` (${response})` : ''}`).slice(0, 500)
}

/**
 * The failure as a sentence of ours. It repeats nothing that the other side sent and does not tell a closed port from
 * one where something else listens: this must not be a port scanner.
 */
export function inWords(error: unknown, { host, port }: MailServer): string {
  const there = `${host}, port ${port}`
  if (error instanceof ForbiddenAddress)
    return `${host} is at an address that must not be called. PANEL_LOCAL_SERVICES can allow a relay on this machine.`
  switch ((error as Failure).code) {
    case 'EAUTH':
      return `${there} does not accept this user and password. The journal has its answer.`
    case 'EENVELOPE':
      return `${there} does not take mail from this sender or for this recipient. The journal has its answer.`
    default:
      return (
        `No mail server at ${there} took the mail. Check name, port and firewall, and the kind of encryption: port ` +
        '465 uses TLS, 587 and 25 use STARTTLS. The journal has the details.'
      )
  }
}

/** A header is one line, whatever people wrote into it. */
const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ').trim()
