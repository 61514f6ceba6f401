// The page of a role lists the tokens of its members: a second factor binds people, not their tokens.
import { expect, test } from 'bun:test'
import { panel } from '../../support/world/panel.ts'

test('the tokens of a role are those of its members, with their last use', async () => {
  using p = await panel()
  const owner = p.staff()
  const ada = p.staff(['servers.see_all'], 'Ada')
  const eve = p.staff(['nodes.read'], 'Eve')
  const made = p.token(ada.id, ['servers:read'])
  p.token(eve.id, ['nodes:read'])
  const roles = (await p.call(owner, 'GET', '/admin/roles')).body.data
  const role = roles.find((r: any) => r.permissions.includes('servers.see_all') && !r.isOwner)
  const list = async () => (await p.call(owner, 'GET', `/admin/roles/${role.id}/tokens`)).body
  expect(await list()).toMatchObject({
    total: 1,
    data: [{ owner: { id: ada.id, name: 'Ada' }, scopes: ['servers:read'], usedAt: null, usedFrom: null }],
  })
  await p.call(made, 'GET', '/servers')
  await p.admin('PATCH', `/admin/roles/${role.id}`, { secondFactor: true })
  const [used] = (await list()).data
  expect(used).toMatchObject({ usedFrom: '127.0.0.1' })
  expect((await p.call(made, 'GET', '/servers')).status).toBe(200)
  expect(JSON.stringify(used).includes('tokenHash')).toBe(false)

  const page = async (who: { cookie?: string }) => {
    const answer = await p.controller.router.fetch(
      new Request(`http://localhost/admin/roles/${role.id}`, { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
    )
    return [answer.status, (await answer.text()).includes(`pnl_…${used.ending}`)]
  }
  expect(await page(owner)).toEqual([200, true])
  expect((await page(eve))[1]).toBe(false)
  await p.admin('PATCH', `/admin/roles/${role.id}`, { secondFactor: false })
  await p.call(p.signIn(ada.id), 'DELETE', `/tokens/${used.id}`)
  expect((await list()).total).toBe(0)
})
