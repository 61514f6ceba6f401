// The mail server in the settings: its password stays where it was given, and a test says what the server says.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import net from 'node:net'
import { SMTPServer } from 'smtp-server'
import { write } from '../../../src/kernel/db/open.ts'
import { keepMailServer, type MailServer } from '../../../src/kernel/mail/mail-server.ts'
import { listenToLog } from '../../support/log.ts'
import { panel, world } from '../../support/world/panel.ts'

const taken: { to: string[]; user: string }[] = []
let no = ''
const server = new SMTPServer({
  disabledCommands: ['STARTTLS'],
  authOptional: true,
  onAuth({ username, password }, _, done) {
    if (password === 'right horse') done(null, { user: username })
    else done(Object.assign(new Error('Bad credentials'), { responseCode: 535 }))
  },
  onRcptTo: (_, __, done) => done(no ? Object.assign(new Error(no), { responseCode: 550 }) : null),
  onData(stream, session, done) {
    stream.resume()
    stream.on('end', () => {
      taken.push({ to: session.envelope.rcptTo.map((r) => r.address), user: String(session.user) })
      done(null, 'queued as 4711')
    })
  },
})
let port = 0
beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  port = (server.server.address() as { port: number }).port
})
afterAll(() => void server.close())

const settings = (more: object = {}) => ({
  host: '127.0.0.1',
  port,
  plain: true,
  user: 'berth',
  password: 'right horse',
  from: 'panel@berth.test',
  ...more,
})
const at = '/admin/settings/mail'

describe('the mail server', () => {
  test('is shown without its password, which stays when none is sent', async () => {
    using p = await panel()
    const staff = p.staff()
    expect((await p.call(staff, 'GET', at)).body).toMatchObject({ host: null, hasPassword: false })
    await p.call(staff, 'PUT', at, settings())
    const { password: _, ...again } = settings({ from: 'other@berth.test' })
    await p.call(staff, 'PUT', at, again)
    const { body } = await p.call(staff, 'GET', at)
    expect(body).toEqual({
      host: '127.0.0.1',
      port,
      tls: false,
      plain: true,
      user: 'berth',
      hasPassword: true,
      from: 'other@berth.test',
    })
    expect((await p.call(staff, 'POST', `${at}/test`)).status).toBe(200)
    expect(taken.at(-1)!.user).toBe('berth')
    const [, second] = p.auditLines().filter((l) => l.operation === 'mail.configure')
    expect(second!.changes).toEqual([{ field: 'from', before: 'panel@berth.test', after: 'other@berth.test' }])
    expect(JSON.stringify(p.auditLines())).not.toContain('right horse')
  })
  for (const host of ['127.0.0.1', 'localhost', '169.254.169.254', 'fe80::1', '::1', '::ffff:127.0.0.1', '0.0.0.0'])
    test(`S12: is not at ${host}, unless the settings of the installation allow it`, async () => {
      using p = await panel({ localServices: '' })
      const staff = p.staff()
      const before = p.fingerprint()
      const { status, body } = await p.call(staff, 'PUT', at, settings({ host }))
      expect([status, body.error.details.fields[0].field]).toEqual([422, 'host'])
      expect(p.fingerprint()).toBe(before)
    })
  test('S14: is looked up again before each mail: one that is stored and not allowed gets nothing', async () => {
    using p = await panel({ localServices: '' })
    const staff = p.staff()
    write(p.db, (tx) =>
      keepMailServer(tx, p.controller.app.secrets, {
        ...settings(),
        tls: false,
        password: null,
        user: null,
      } as MailServer),
    )
    const before = taken.length
    const test = await p.call(staff, 'POST', `${at}/test`)
    expect([test.status, test.body.error.message]).toEqual([409, expect.stringContaining('must not be called')])
    await p.admin('POST', '/admin/customers', { name: 'N', email: 'n@customer.test', invite: true })
    await p.controller.deliveries.settle()
    expect(taken.length).toBe(before)
    const [waiting] = p.db.$client.query<{ error: string }, []>('SELECT error FROM deliveries').all()
    expect(waiting!.error).toContain('must not be called')
  })
  test('never gets a password that was kept for another', async () => {
    using p = await panel()
    const staff = p.staff()
    await p.call(staff, 'PUT', at, settings({ plain: false }))
    const before = p.fingerprint()
    for (const other of [{ host: 'evil.test' }, { port: port + 1 }, { user: 'root' }, { plain: true }]) {
      const { password: _, ...body } = settings({ plain: false, ...other })
      expect((await p.call(staff, 'PUT', at, body)).body.error.details.fields[0].field).toBe('password')
    }
    expect(p.fingerprint()).toBe(before)
  })
})

describe('a test mail', () => {
  test('goes to whoever asks, and tells what the server said', async () => {
    using p = await world()
    await p.admin('PUT', at, settings())
    const { status, body } = await p.call(p.owner, 'POST', `${at}/test`)
    const email = p.db.$client
      .query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?')
      .get(p.owner.id)!.email
    expect([status, body.to]).toEqual([200, email])
    expect(body.said).toBe('The mail server took the mail.')
    expect(taken.at(-1)!.to).toEqual([email])
  })
  test('that does not get through says in words why', async () => {
    using p = await world()
    const said = async (more: object) => {
      await p.admin('PUT', at, settings(more))
      const { status, body } = await p.call(p.owner, 'POST', `${at}/test`)
      return `${status} ${body.error.code} ${body.error.message}`
    }
    expect(await said({ password: 'wrong' })).toMatch(/^409 mail_refused .*does not accept this user and password/)
    expect(await said({ port: 1 })).toContain('No mail server at 127.0.0.1, port 1 took the mail')
    expect(await said({ plain: false })).toContain('STARTTLS')
    no = 'No such mailbox'
    expect(await said({})).toContain('for this recipient')
    no = ''
  })
  test(
    'S14: repeats nothing of what another port says, and sounds the same for a closed one; the journal has ' + 'it',
    async () => {
      using p = await world()
      const banner = net.createServer((socket) => void socket.end('SSH-2.0-Secret_9.9\r\n'))
      await new Promise<void>((ready) => banner.listen(0, '127.0.0.1', ready))
      const other = (banner.address() as net.AddressInfo).port
      const refusal = async (more: object) => {
        await p.admin('PUT', at, settings(more))
        const { lines, answer } = await listenToLog(() => p.call(p.owner, 'POST', `${at}/test`))
        const { code, message } = answer.body.error
        return { said: `${code} ${message}`.replaceAll(/port [0-9]+/g, 'port N'), journal: JSON.stringify(lines) }
      }
      const [open, closed] = [await refusal({ port: other }), await refusal({ port: 1 })]
      banner.close()
      expect(open.said).toBe(closed.said)
      expect(open.said).not.toContain('SSH-2.0')
      expect(open.journal).toContain('SSH-2.0-Secret_9.9')
      no = 'Secret words'
      expect((await refusal({})).said).not.toContain('Secret words')
      no = ''
    },
  )
  test('needs a mail server, and somebody with an address', async () => {
    using p = await world()
    expect((await p.call(p.owner, 'POST', `${at}/test`)).body.error.code).toBe('no_mail_server')
    await p.admin('PUT', at, settings())
    await expect(p.admin('POST', `${at}/test`)).rejects.toThrow('System has no mail address')
    expect((await p.call(p.staff(['nodes.read']), 'POST', `${at}/test`)).body.error.code).toBe('forbidden')
  })
})
