// A real SMTP server takes the mail.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SMTPServer } from 'smtp-server'
import { hour, minute } from '../../../src/kernel/db/clock.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { mailTo } from '../../../src/kernel/mail/mail.ts'
import { messageFor } from '../../../src/kernel/mail/smtp.ts'
import { journalOf } from '../../support/journal.ts'
import { world } from '../../support/world/panel.ts'

type Taken = { from: string; to: string[]; text: string }
const taken: Taken[] = []
const somebody = { email: 'a@b.test', name: 'A' }
let refuse = false
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, session, done) {
    new Response(stream as never).text().then((text) => {
      if (refuse) return done(Object.assign(new Error('come back later'), { responseCode: 451 }))
      taken.push({
        from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
        to: session.envelope.rcptTo.map((r) => r.address),
        text,
      })
      done()
    })
  },
})
let port = 0
beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  port = (server.server.address() as { port: number }).port
})
afterAll(() => void server.close())

const configured = async () => {
  const p = await world()
  await p.admin('PUT', '/admin/settings/mail', {
    host: '127.0.0.1',
    port,
    plain: true,
    from: 'panel@berth.test',
    user: null,
    password: null,
  })
  return p
}
const states = (p: Awaited<ReturnType<typeof world>>) =>
  p.db.$client.query('SELECT state, attempts, encrypted_payload AS body FROM deliveries').all() as {
    state: string
    attempts: number
    body: string
  }[]

describe('a mail', () => {
  test('that is not taken is in the journal with its server; one that is given up is an error there', async () => {
    using p = await configured()
    write(p.db, (tx) => mailTo(tx, p.controller.app, somebody, { subject: 'x', paragraphs: ['x'] }))
    const { id } = p.db.$client.query<{ id: string }, []>('SELECT id FROM deliveries').get()!
    const lines = await journalOf(async () => {
      refuse = true
      for (let tries = 0; tries < 6; tries++) {
        await p.controller.deliveries.settle()
        p.turnClock(8 * hour)
      }
      refuse = false
    })
    // A file that ran before in this process may still write to the journal.
    const journal = lines.filter(({ deliveryId }) => deliveryId === id)
    expect(journal.map(({ level, againInSeconds }) => [level, againInSeconds])).toEqual([
      ...[60, 300, 1800, 7200, 28_800].map((seconds) => ['warning', seconds]),
      ['error', undefined],
    ])
    expect(id).toMatch(/^dlv_/)
    for (const line of journal) expect(line).toMatchObject({ server: `127.0.0.1:${port}` })
    expect(journal[0]!['said']).toContain('come back later')
    expect(journal[0]!['error']).toContain('No mail server at')
  })
  test('tells the owner of a server without an image that it waits for its setup', async () => {
    using p = await configured()
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    const { serverId } = await p.admin('POST', '/admin/servers', waiting)
    expect(states(p)[0]!.body).not.toContain('setup')
    await p.controller.deliveries.settle()
    expect(taken.at(-1)!.to).toEqual([expect.stringContaining('@customer.test')])
    expect(taken.at(-1)!.text.replaceAll('=\r\n', '')).toContain(`https://panel.test/servers/${serverId}`)
    // The other mail welcomes the customer, who has something now.
    expect(states(p)).toEqual(Array(2).fill({ state: 'delivered', attempts: 1, body: '' }))
    // A customer without a password learns how to get in; one with a password does not need it.
    expect(taken.at(-1)!.text.replaceAll('=\r\n', '')).toContain('You have not chosen a password yet')
    p.db.$client.run("UPDATE accounts SET password_hash = 'x' WHERE id = ?", [p.customer.id])
    await p.admin('POST', '/admin/servers', waiting)
    await p.controller.deliveries.settle()
    expect(taken.at(-1)!.text).not.toContain('You have not chosen a password yet')
  })

  test('that is not taken is tried again after 1, 5, 30 minutes, 2 and 8 hours, and then shown', async () => {
    using p = await configured()
    write(p.db, (tx) => mailTo(tx, p.controller.app, somebody, { subject: 'S', paragraphs: ['T'] }))
    refuse = true
    for (const [i, pause] of [1, 5, 30, 120, 480].entries()) {
      await p.controller.deliveries.settle()
      expect(states(p)[0]).toMatchObject({ state: 'waiting', attempts: i + 1 })
      const rows = (await p.call(p.staff(), 'GET', '/admin/overview')).body.attention.filter((a: any) =>
        /mail/.test(a.what),
      )
      expect(rows).toMatchObject([{ level: 'warn', what: '1 mail is being retried.' }])
      expect(rows[0].effect).toContain('No mail server at')
      p.turnClock(pause * minute - 2000)
      await p.controller.deliveries.settle()
      expect(states(p)[0]!.attempts).toBe(i + 1)
      p.turnClock(3000)
    }
    await p.controller.deliveries.settle()
    expect(states(p)[0]).toMatchObject({ state: 'failed', attempts: 6, body: '' })
    refuse = false
    const { attention } = (await p.call(p.staff(), 'GET', '/admin/overview')).body
    expect(attention.map((a: any) => a.what)).toContain('1 mail was not sent.')
  })

  test('waits while there is no mail server, and goes out when there is one', async () => {
    using p = await world()
    write(p.db, (tx) => mailTo(tx, p.controller.app, somebody, { subject: 'S', paragraphs: ['T'] }))
    await p.controller.deliveries.settle()
    expect(states(p)[0]).toMatchObject({ state: 'waiting', attempts: 0 })
    await p.admin('PUT', '/admin/settings/mail', { host: '127.0.0.1', port, plain: true, from: 'panel@berth.test' })
    await p.controller.deliveries.settle()
    expect(states(p)[0]!.state).toBe('delivered')
  })

  test("never shows its server's password: encrypted in the settings, masked in the audit log", async () => {
    using p = await world()
    await p.admin('PUT', '/admin/settings/mail', {
      host: '127.0.0.1',
      port,
      plain: true,
      from: 'panel@berth.test',
      user: 'u',
      password: 'canary-7431',
    })
    const kept = JSON.stringify([p.db.$client.query('SELECT * FROM settings').all(), p.auditLines()])
    expect(kept).toContain('***')
    expect(kept).not.toContain('canary-7431')
  })

  test(
    'says the same as text and as HTML, with the link in both, from the brand and answered to nobody ' + 'else',
    async () => {
      using p = await configured()
      const reseller = p.account('reseller', 'Reed')
      const customer = p.account('customer', 'Cal', reseller.id)
      p.db.$client.run(
        "INSERT INTO branding (name, sender_name, sender_address) VALUES ('Hafen', 'Hafen Ops', 'ops@hafen.test')",
      )
      p.db.$client.run(
        "INSERT INTO branding (account_id, name, accent, sender_address) VALUES (?, 'Reed & Co', '#aa0055', " +
          "'hello@reed.test')",
        [reseller.id],
      )
      const send = async (to: { id: string; email: string; name: string }) => {
        write(p.db, (tx) =>
          mailTo(tx, p.controller.app, to, {
            subject: 'Grüße',
            paragraphs: ['One <b>&', 'Two'],
            button: { words: 'Do it', path: '/servers/srv_1?a=1&b=2' },
            closing: 'It holds for an hour.',
          }),
        )
        await p.controller.deliveries.settle()
        return parts(taken.at(-1)!)
      }
      const own = await send({ id: p.customer.id, email: 'cal@customer.test', name: 'Cal' })
      expect(own.head).toContain('Content-Type: multipart/alternative')
      expect(own.head).toContain('From: Hafen Ops <ops@hafen.test>')
      expect(own.head).not.toMatch(/^Reply-To/im)
      expect(own.text).toBe(
        'Hello Cal,\n\nOne <b>&\n\nTwo\n\nDo it:\nhttps://panel.test/servers/srv_1?a=1&b=2\n\nIt holds for an ' +
          'hour.\n\n-- \nHafen\nhttps://panel.test\n',
      )
      expect(own.html).toContain('href="https://panel.test/servers/srv_1?a=1&amp;b=2"')
      expect(own.html).toContain('One &lt;b>&amp;')
      expect(taken.at(-1)!.from).toBe('panel@berth.test')

      const theirs = await send({ id: customer.id, email: 'cal2@customer.test', name: 'Cal' })
      expect(theirs.head).toContain('From: "Reed & Co" <hello@reed.test>')
      expect(theirs.html).toContain('background:#aa0055')
      expect(theirs.text).toContain('-- \nReed & Co\n')
    },
  )

  test('cannot be given a header or a recipient by what people wrote', async () => {
    using p = await configured()
    const evil = 'x\r\nBcc: eve@evil.test\r\n\r\nHello'
    p.db.$client.run('INSERT INTO branding (name, sender_name) VALUES (?, ?)', [evil, `${evil}, "Eve" <eve@evil.test>`])
    const before = taken.length
    write(p.db, (tx) =>
      mailTo(tx, p.controller.app, { email: 'a@b.test', name: evil }, { subject: evil, paragraphs: [evil] }),
    )
    await p.controller.deliveries.settle()
    expect(taken.length).toBe(before + 1)
    const mail = taken.at(-1)!
    expect(mail.to).toEqual(['a@b.test'])
    expect(mail.from).toBe('panel@berth.test')
    const { head } = parts(mail)
    expect(head).not.toMatch(/^bcc:/im)
    expect(head.match(/^from:.*/gim)).toHaveLength(1)
    expect(head.match(/^to:.*/gim)).toEqual(['To: a@b.test'])
  })
})

/** A mail's header with its folded lines joined, and its two bodies as a program shows them. */
function parts({ text }: Taken) {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const boundary = /boundary="([^"]+)"/.exec(text)![1]!
  const body = (type: string) => {
    const part = rest
      .join('\r\n\r\n')
      .split(`--${boundary}`)
      .find((section) => section.includes(`Content-Type: ${type}`))!
    const [header = '', ...lines] = part.split('\r\n\r\n')
    const raw = lines.join('\r\n\r\n').replaceAll('\r\n', '\n')
    const plain = /base64/i.test(header)
      ? Buffer.from(raw, 'base64').toString()
      : /quoted-printable/i.test(header)
        ? Buffer.from(
            raw
              .replace(/=\n/g, '')
              .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          ).toString()
        : raw
    return plain.replace(/\n+$/, '\n')
  }
  return { head: head.replace(/\r\n[ \t]+/g, ' '), text: body('text/plain'), html: body('text/html') }
}

test('S8: a subject and a sender are one line each, whatever they are made of', () => {
  const server = {
    host: 'mail.test',
    port: 25,
    tls: false,
    plain: true,
    user: null,
    password: null,
    from: 'panel@mail.test',
  }
  const text = 'Hello\r\nBcc: all@victims.test\r\n\r\nbody'
  const { subject, from } = messageFor(server, 'dlv_1', {
    to: 'ada@mail.test',
    subject: text,
    from: { name: text, address: null },
    text: '',
    html: '',
  })
  expect([subject, from.name]).toEqual(Array(2).fill('Hello Bcc: all@victims.test body'))
})
