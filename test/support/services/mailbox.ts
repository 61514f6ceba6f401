// A real SMTP server, and what it has taken.
import { SMTPServer } from 'smtp-server'
import type { World } from '../world/panel.ts'

export type MailContent = { to: string; subject: string; text: string }

export type Mailbox = Awaited<ReturnType<typeof mailbox>>
export async function mailbox() {
  const taken: MailContent[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, done) {
      new Response(stream as never).text().then((raw) => {
        // Quoted-printable: soft line ends and `=3D` are how the mail travels, not what it says.
        const text = raw
          .replaceAll('=\r\n', '')
          .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
        taken.push({
          to: session.envelope.rcptTo[0]!.address,
          subject: /^Subject: (.*)$/m.exec(text)?.[1]?.trim() ?? '',
          text,
        })
        done()
      })
    },
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.server.address() as { port: number }
  return {
    taken,
    port,
    /** The panel sends here from now on. */
    serve: (p: World) =>
      p.admin('PUT', '/admin/settings/mail', {
        host: '127.0.0.1',
        port,
        plain: true,
        from: 'panel@berth.test',
        user: null,
        password: null,
      }),
    /** Everything that waits is sent. */
    async deliver(p: World) {
      await p.controller.deliveries.settle()
      return taken
    },
    /** The token of the newest link to this page that this address got. */
    tokenFor(address: string, page: string): string | undefined {
      const mailContent = taken.findLast((l) => l.to === address && l.text.includes(`https://panel.test${page}`))
      return mailContent && new RegExp(`https://panel\\.test${page}([\\w-]{43})`).exec(mailContent.text)![1]
    },
    close: () => void server.close(),
  }
}
