// Pages of servers offer only actions that their reader may carry out, and name the filters of a list.
import { expect, test } from 'bun:test'
import { world } from '../../support/world/panel.ts'

const pageOf = async (p: Awaited<ReturnType<typeof world>>, cookie: string | undefined, path: string) =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } }),
    )
  ).text()

test('“Create server” is offered to who also sees the customers that it can be for', async () => {
  using p = await world()
  const offered = async (...permissions: string[]) =>
    (await pageOf(p, p.staff(permissions as never).cookie, '/admin/servers')).includes('href="/admin/servers/new"')
  expect(await offered('servers.see_all', 'servers.create')).toBe(false)
  expect(await offered('servers.see_all', 'servers.create', 'customers.read')).toBe(true)
})

test('a list that a link narrowed says to what, and leads to all of it', async () => {
  using p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  const { cookie } = p.staff(undefined, 'Olga')
  expect(await pageOf(p, cookie, '/admin/servers')).not.toContain('Remove filter')
  const text = await pageOf(p, cookie, `/admin/servers?ownerId=${p.order.ownerId}`)
  expect(text).toMatch(/<a class="chip on" href="\/admin\/servers" data-list><input [^>]+>Owner: Cal</)
  expect(await pageOf(p, cookie, `/admin/servers?nodeId=${p.node.id}`)).toMatch(/>Node: fra-01</)
})

test('a reason in the address that is no reason is not looked up in what every object has', async () => {
  using p = await world()
  expect(await pageOf(p, undefined, '/login?refused=constructor')).toContain(
    'That did not work. Sign in with your password.',
  )
})

test('whoever orders can choose from all packages, also where a list has more than one page of them', async () => {
  using p = await world()
  for (let i = 0; i < 201; i++)
    await p.admin('POST', '/admin/packages', { name: `Size ${i}`, vcpus: 1, memoryMb: 512, diskGb: 5 })
  const olga = p.staff(undefined, 'Olga').cookie
  const offered = async (query: string) => {
    const text = await pageOf(p, olga, `/admin/servers/new${query}`)
    return { n: text.match(/<input type="radio" [^>]*name="packageId"/g)?.length, text }
  }
  // The first ones, and a field that finds each of the others.
  const { n, text } = await offered('')
  expect([n, text.includes('177 more packages: search to find them.')]).toEqual([25, true])
  const found = await offered('?package=Size+200')
  expect(found.text).toContain('Size 200')
  expect(found.n).toBeLessThanOrEqual(2)
})

test('a reader without the right to see customers gets no link to one', async () => {
  using p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const link = `href="/admin/customers/${p.order.ownerId}"`
  const some = p.staff(['servers.see_all'] as never)
  expect(await pageOf(p, p.owner.cookie, '/admin/servers')).toContain(link)
  expect(await pageOf(p, some.cookie, '/admin/servers')).not.toContain(link)
})

test('a list names the nodes that are away to staff, once each, and not to the owners of their servers', async () => {
  using p = await world()
  for (const hostname of ['one', 'two']) await p.admin('POST', '/admin/servers', { ...p.order, hostname })
  await p.settle()
  const note = 'fra-01 is not connected.'
  expect(await pageOf(p, p.owner.cookie, '/admin/servers')).not.toContain(note)
  p.node.agent.disconnect()
  const staff = await pageOf(p, p.owner.cookie, '/admin/servers')
  expect(staff.split(note)).toHaveLength(2)
  expect(staff).toContain(`href="/admin/nodes/${p.node.id}"`)
  const own = await pageOf(p, p.customer.cookie, '/servers')
  expect(own).toContain('Unreachable')
  expect(own).not.toContain('fra-01')
})
