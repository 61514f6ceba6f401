// A real SMTP server takes the mail.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SMTPServer } from 'smtp-server'
import { minute } from '../../src/kernel/db/clock.ts'
import { write } from '../../src/kernel/db/open.ts'
import { queueMail } from '../../src/kernel/web/mail.ts'
import { world } from '../support/panel.ts'

const taken: { to: string[]; text: string }[] = []
let refuse = false
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, session, done) {
    new Response(stream as never).text().then((text) => {
      if (refuse) return done(Object.assign(new Error('come back later'), { responseCode: 451 }))
      taken.push({ to: session.envelope.rcptTo.map((r) => r.address), text })
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
  p.db.$client.query('SELECT state, tries, sealed_body AS body FROM mails').all() as { state: string; tries: number; body: string }[]

describe('a mail', () => {
  test('tells the owner of a server without an image that it waits for its setup', async () => {
    using p = await configured()
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    const { serverId } = await p.admin('POST', '/admin/servers', waiting)
    expect(states(p)[0]!.body).not.toContain('setup')
    await p.controller.mail.send()
    expect(taken.at(-1)!.to).toEqual([expect.stringContaining('@customer.test')])
    expect(taken.at(-1)!.text.replaceAll('=\r\n', '')).toContain(`https://panel.test/servers/${serverId}`)
    expect(states(p)).toEqual([{ state: 'sent', tries: 0, body: '' }])
  })

  test('that is not taken is tried again after 1, 5, 30 minutes, 2 and 8 hours, and then shown', async () => {
    using p = await configured()
    write(p.db, (tx) => queueMail(tx, p.controller.around, { to: 'a@b.test', subject: 'S', text: 'T' }))
    refuse = true
    for (const [i, pause] of [1, 5, 30, 120, 480].entries()) {
      await p.controller.mail.send()
      expect(states(p)[0]).toMatchObject({ state: 'waiting', tries: i + 1 })
      p.turnClock(pause * minute - 2000)
      await p.controller.mail.send()
      expect(states(p)[0]!.tries).toBe(i + 1)
      p.turnClock(3000)
    }
    await p.controller.mail.send()
    expect(states(p)[0]).toMatchObject({ state: 'failed', tries: 6, body: '' })
    refuse = false
    const { attention } = (await p.call(p.staff(), 'GET', '/admin/overview')).body
    expect(attention.map((a: any) => a.what)).toContain('1 mail was not sent.')
  })

  test('waits while there is no mail server, and goes out when there is one', async () => {
    using p = await world()
    write(p.db, (tx) => queueMail(tx, p.controller.around, { to: 'a@b.test', subject: 'S', text: 'T' }))
    await p.controller.mail.send()
    expect(states(p)[0]).toMatchObject({ state: 'waiting', tries: 0 })
    await p.admin('PUT', '/admin/settings/mail', { host: '127.0.0.1', port, plain: true, from: 'panel@berth.test' })
    await p.controller.mail.send()
    expect(states(p)[0]!.state).toBe('sent')
  })

  test("never shows its server's password: sealed in the settings, masked in the audit log", async () => {
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
})
