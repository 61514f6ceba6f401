// The pages of a team show no button that their reader may not press.
import { expect, test } from 'bun:test'
import { roleNames } from '../../../src/identity/team/role.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { addressOf, invite, share } from '../../support/world/team.ts'

const pageOf = async (p: World, who: Who | undefined, path: string) => {
  const headers = who ? { Cookie: `__Host-panel=${who.cookie}` } : undefined
  const response = await p.controller.router.fetch(new Request(`http://localhost${path}`, headers && { headers }))
  return { status: response.status, text: await response.text() }
}
/** The operations that the page has forms for. */
const calls = (text: string) => new Set([...text.matchAll(/data-call="([\w.-]+)"/g)].map(([, id]) => id!))

test('a server page has for each role the buttons that the role opens, and the way out', async () => {
  using p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const expected = {
    view: ['sessions.end', 'team.leave'],
    operate: ['servers.power', 'sessions.end', 'team.leave'],
    manage: [
      'alerts.create',
      'servers.boot-order',
      'servers.label',
      'servers.power',
      'servers.protection',
      'servers.reinstall',
      'servers.rename',
      'servers.reset-password',
      'servers.restart-policy',
      'sessions.end',
      'team.leave',
    ],
  }
  const shown = async (who: Who) =>
    (await Promise.all(['', '/access', '/settings'].map((tab) => pageOf(p, who, `/servers/${serverId}${tab}`))))
      .map(({ text }) => text)
      .join('')
  for (const role of roleNames) {
    const friend = p.account('customer', 'Bo')
    await share(p, p.customer, friend, role, serverId)
    const text = await shown(friend)
    expect([role, [...calls(text)].sort()]).toEqual([role, expected[role]])
    expect(text).toContain('Shared by Cal')
    expect(text).not.toContain(addressOf(p, p.customer))
    // The keys to choose from are the reader's own: the owner's are not the reader's to see.
    expect(text.includes(`/customers/${friend.id}/ssh-keys`)).toBe(role === 'manage')
    expect(text).not.toContain(`/customers/${p.customer.id}`)
    expect((await pageOf(p, friend, '/')).text).toContain('Shared by Cal')
  }
  expect([...calls(await shown(p.customer))].sort()).toEqual(
    [...expected.manage.filter((id) => id !== 'team.leave'), 'team.invite'].sort(),
  )
  expect((await pageOf(p, p.customer, '/')).text).not.toContain('Shared by')
})

test('the team page shows both sides, and offers own servers only to share', async () => {
  using p = await world()
  const eve = p.account('customer', 'Eve')
  await p.admin('POST', '/admin/servers', p.order)
  await p.admin('POST', '/admin/servers', { ...p.order, ownerId: eve.id, hostname: 'eves01' })
  await p.settle()
  await share(p, eve, p.customer, 'operate')
  await invite(p, p.customer, 'new@nowhere.test')
  const { text } = await pageOf(p, p.customer, '/team')
  expect(text).toContain('new@nowhere.test')
  expect(text).toContain('Shared with you')
  expect(text).toMatch(/<option value="srv_\w+">web01/)
  expect(text).not.toMatch(/<option value="srv_\w+">eves01/)
  expect([...calls(text)].sort()).toEqual([
    'sessions.end',
    'team.invite',
    'team.leave',
    'team.remove',
    'team.resend',
    'team.update',
  ])
  expect((await pageOf(p, p.owner, '/team')).status).toBe(404)
})

test('the link leads whoever comes with it to what they have to do, and looking spends nothing', async () => {
  using p = await world()
  const friend = p.account('customer', 'Bo')
  const known = await invite(p, p.customer, addressOf(p, friend))
  const unknown = await invite(p, p.customer, 'new@nowhere.test')
  const at = async (who: Who | undefined, token: string) => calls((await pageOf(p, who, `/join?token=${token}`)).text)
  for (let i = 0; i < 2; i++) {
    expect([...(await at(friend, known.token))]).toEqual(['team.accept'])
    expect([...(await at(p.owner, known.token))]).toEqual(['sessions.end'])
    expect([...(await at(undefined, unknown.token))]).toEqual(['team.join'])
    const { text } = await pageOf(p, undefined, `/join?token=${known.token}`)
    expect([[...calls(text)], text.includes(`/login?next=%2Fjoin%3Ftoken%3D${known.token}`)]).toEqual([[], true])
  }
  expect((await pageOf(p, undefined, '/join?token=none')).status).toBe(409)
  expect((await pageOf(p, undefined, '/join')).status).toBe(409)
})
