// The compiled program, killed between handing a mail over and recording it: nothing is lost, and the receiver knows
// the second copy.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SMTPServer } from 'smtp-server'
import { type Installation, installation } from '../../support/world/processes.ts'

type Taken = { to: string; messageId: string }
const taken: Taken[] = []
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, session, done) {
    // A kill may cut another mail off in the middle: that one was not taken.
    const cutOff = () => {}
    new Response(stream as never).text().then((text) => {
      taken.push({ to: session.envelope.rcptTo[0]!.address, messageId: /^Message-ID: (.*)\r$/m.exec(text)![1]! })
      done()
    }, cutOff)
  },
})
// The kill resets the connections of the mails that are under way.
server.on('error', () => {})
let live: Installation
beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  live = await installation()
})
afterAll(async () => {
  server.close()
  await live.close()
})

const states = () =>
  live.query("SELECT recipient || ' ' || state || ' ' || attempts AS words FROM deliveries ORDER BY recipient")

test('a mail that was sent when the controller was killed is sent again under the same Message-ID, and those ' +
  'behind it go out', async () => {
  const { port } = server.server.address() as { port: number }
  const first = await live.serve({ BERTH_CRASH_AT: 'delivery/mail:answered' })
  const invite = (name: string) => live.admin('customers.create', { name, email: `${name}@example.com`, invite: true })
  for (const name of ['ann', 'bob']) await invite(name)
  await live.admin('mail.configure', { host: '127.0.0.1', port, plain: true, from: 'panel@berth.test' })
  await first.exited
  expect(first.signalCode).toBe('SIGKILL')
  expect(taken.length).toBeGreaterThan(0)
  expect(states()).toEqual(['ann@example.com waiting 0', 'bob@example.com waiting 0'])

  await live.serve()
  await live.until('both mails', async () => states().every((words) => words.endsWith('delivered 1')))
  const ids = (to: string) => taken.filter((mail) => mail.to === to).map(({ messageId }) => messageId)
  const all = ['ann', 'bob'].map((name) => ids(`${name}@example.com`))
  for (const own of all) expect(new Set(own).size).toBe(1)
  expect(new Set(all.flat()).size).toBe(2)
  expect(Math.max(...all.map((own) => own.length))).toBe(2)

  // Queued while it runs, a mail does not wait for a clock.
  const began = Date.now()
  await invite('cid')
  await live.until('the third mail', async () => ids('cid@example.com').length === 1)
  expect(Date.now() - began).toBeLessThan(4000)
}, 60_000)
