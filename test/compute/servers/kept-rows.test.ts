// Lists keep the markup of their rows. A row shows what its server is now, and nobody gets what another reader was
// shown.
import { expect, test } from 'bun:test'
import { MarkupCache } from '../../../src/kernel/web/markup-cache.ts'
import { world } from '../../support/world/panel.ts'

type World = Awaited<ReturnType<typeof world>>
const pageOf = async (p: World, cookie: string | undefined, path = '/admin/servers') =>
  (
    await p.controller.router.fetch(
      new Request(`http://localhost${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } }),
    )
  ).text()

test('a row that was kept shows the new name of its server, and the old one nowhere', async () => {
  using p = await world()
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'before' })
  await p.settle()
  expect(await pageOf(p, p.owner.cookie)).toContain('title="before"')
  expect(await pageOf(p, p.owner.cookie)).toContain('title="before"')
  await p.admin('PATCH', `/servers/${serverId}/name`, { name: 'after' })
  const changed = await pageOf(p, p.owner.cookie)
  expect(changed).toContain('title="after"')
  expect(changed).not.toContain('title="before"')
})

test('a reader without the right to see customers gets no link to one, also after another was shown it', async () => {
  using p = await world()
  await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  const link = `href="/admin/customers/${p.order.ownerId}"`
  const some = p.staff(['servers.see_all'] as never)
  expect(await pageOf(p, p.owner.cookie)).toContain(link)
  expect(await pageOf(p, some.cookie)).not.toContain(link)
  expect(await pageOf(p, p.owner.cookie)).toContain(link)
})

test('a list names the nodes that are away to staff, once each, and not to the owners of their servers', async () => {
  using p = await world()
  for (const hostname of ['one', 'two']) await p.admin('POST', '/admin/servers', { ...p.order, hostname })
  await p.settle()
  const note = 'fra-01 is not connected.'
  expect(await pageOf(p, p.owner.cookie)).not.toContain(note)
  p.node.agent.disconnect()
  const staff = await pageOf(p, p.owner.cookie)
  expect(staff.split(note)).toHaveLength(2)
  expect(staff).toContain(`href="/admin/nodes/${p.node.id}"`)
  const own = await pageOf(p, p.customer.cookie, '/servers')
  expect(own).toContain('Unreachable')
  expect(own).not.toContain('fra-01')
})

test('kept markup is rendered again when its record changes, and the oldest makes room', () => {
  const kept = new MarkupCache(2)
  let rendered = 0
  const text = (key: string, record: string) =>
    kept.text(key, record, () => {
      rendered++
      return `<tr>${record}</tr>`
    })
  expect([text('a', '1'), text('a', '1'), text('a', '2')]).toEqual(['<tr>1</tr>', '<tr>1</tr>', '<tr>2</tr>'])
  expect(rendered).toBe(2)
  text('b', '1')
  text('a', '2')
  text('c', '1') // b is the one used longest ago
  text('a', '2')
  expect(rendered).toBe(4)
  text('b', '1')
  expect(rendered).toBe(5)
})
