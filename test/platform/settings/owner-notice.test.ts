// S50: owners are notified of what decides where credentials and links go, over the mail server from before the change.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mailResetLinks } from '../../../src/identity/auth/sign-in/password-links.ts'
import { minute } from '../../../src/kernel/db/clock.ts'
import { type Mailbox, mailbox } from '../../support/services/mailbox.ts'
import { type World, world } from '../../support/world/panel.ts'

let [before, after] = [] as unknown as [Mailbox, Mailbox]
beforeAll(async () => void ([before, after] = [await mailbox(), await mailbox()]))
afterAll(() => [before, after].forEach((box) => void box.close()))
beforeEach(() => [before, after].forEach((box) => void (box.taken.length = 0)))

const addressOf = (p: World, id: string) =>
  p.db.$client.query<{ email: string }, [string]>('SELECT email FROM accounts WHERE id = ?').get(id)!.email
const subject = 'A change that affects all owners'
const told = (box: Mailbox) => box.taken.filter((mail) => mail.subject === subject).map((mail) => mail.to)
const to = (box: Mailbox) => ({ host: '127.0.0.1', port: box.port, plain: true, from: 'panel@berth.test' })

describe('S50: owners', () => {
  test('are told of another mail server over the one from before, and nothing of it reaches the new one', async () => {
    using p = await world()
    const other = p.staff()
    const gone = p.staff()
    await p.call(p.owner, 'POST', `/admin/staff/${gone.id}/actions/disable`)
    p.staff(['settings.write'])
    await before.serve(p)
    expect((await p.call(p.owner, 'PUT', '/admin/settings/mail', to(after))).status).toBe(200)
    await before.deliver(p)
    expect(told(before).sort()).toEqual([addressOf(p, p.owner.id), addressOf(p, other.id)].sort())
    expect(before.taken[0]!.text).toContain('Ada did it from the address 127.0.0.1.')
    expect(before.taken[0]!.text).toContain(`port: ${before.port}`)
    expect(after.taken).toEqual([])
    await p.call(undefined, 'POST', '/password-resets', { email: addressOf(p, p.owner.id) })
    mailResetLinks(p.db, p.controller.app)
    await after.deliver(p)
    expect(after.taken.map((mail) => mail.subject)).toEqual(['Choose a new password'])
  })
  test('are told later when the mail server from before does not answer, still over that one', async () => {
    using p = await world()
    const dead = await mailbox()
    await dead.serve(p)
    dead.close()
    await p.call(p.owner, 'PUT', '/admin/settings/mail', to(after))
    await after.deliver(p)
    const waiting = () =>
      p.db.$client.query<{ state: string; attempts: number }, []>('SELECT state, attempts FROM deliveries').all()
    expect(waiting()).toEqual([{ state: 'waiting', attempts: 1 }])
    for (const minutes of [1, 5, 30, 120, 480]) {
      p.turnClock(minutes * minute)
      await after.deliver(p)
    }
    expect(waiting()).toEqual([{ state: 'failed', attempts: 6 }])
    expect(after.taken).toEqual([])
  })
  test('are the only ones to whom the settings offer it; other staff read what is set, and whom to ask', async () => {
    using p = await world()
    const page = async (who: { cookie?: string }) =>
      (
        await p.controller.router.fetch(
          new Request('http://localhost/admin/settings', { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
        )
      ).text()
    const calls = ['hx-put="/api/v1/admin/settings/mail"', 'hx-put="/api/v1/admin/settings/sign-in"']
    const [owners, others] = [await page(p.owner), await page(p.staff(['settings.write']))]
    for (const call of calls) expect([owners.includes(call), others.includes(call)]).toEqual([true, false])
    expect(others.split('Only an owner can change this').length).toBe(3)
  })
  test('are told who becomes one, who stops being one, and of a new address or a removed second factor', async () => {
    using p = await world()
    await before.serve(p)
    const bo = p.staff(['servers.power'], 'Bo')
    const path = `/admin/staff/${bo.id}`
    const change = async (method: string, at: string, body?: object) => {
      before.taken.length = 0
      expect((await p.call(p.owner, method, at, body)).status).toBeLessThan(300)
      await before.deliver(p)
      return before.taken.filter((mail) => mail.subject === subject && mail.to === addressOf(p, p.owner.id))
    }
    const [made] = await change('PATCH', path, { role: 'Owner' })
    expect(made!.text).toContain(`Bo (${addressOf(p, bo.id)}) was made an owner.`)
    const [moved] = await change('PATCH', path, { email: 'bo2@staff.test' })
    expect(moved!.text).toContain('has another e-mail address: bo2@staff.test')
    p.db.$client.run("INSERT INTO passkeys VALUES ('pky_1', ?, 'AA', 'AA', 0, '[]', 'Key', 1, NULL, NULL)", [bo.id])
    const [reset] = await change('POST', `${path}/actions/reset-second-factor`, { reason: 'Lost phone' })
    expect(reset!.text).toContain('The second factor of the owner Bo')
    const { name } = p.db.$client.query<{ name: string }, []>('SELECT name FROM roles WHERE NOT is_owner').get()!
    expect((await change('PATCH', path, { role: name }))[0]!.text).toContain('is no longer an owner.')
    expect(await change('PATCH', path, { name: 'Bob' })).toEqual([])
    const added = { name: 'Cy', email: 'cy@staff.test', password: 'seven green bicycles', role: 'Owner' }
    expect((await change('POST', '/admin/staff', added))[0]!.text).toContain(
      'Cy (cy@staff.test) was added as an owner.',
    )
    expect(await change('POST', '/admin/staff', { ...added, email: 'd@staff.test', role: name })).toEqual([])
  })
})
