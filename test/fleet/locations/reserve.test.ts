// Memory that orders leave free in a location for the loss of a node.
import { expect, test } from 'bun:test'
import { shop } from '../../identity/resellers/shop.ts'
import { world } from '../../support/world/panel.ts'

/** Three servers of the package fit on each node. */
const small = 'UPDATE nodes SET memory_mb = reserved_memory_mb + 3 * 2048'

test('orders leave the reserve of a location free, moves use it, and staff may order from it', async () => {
  using p = await world()
  p.attach(p.pool, p.addNode(p.location, 'fra-02').id)
  p.db.$client.run(small)
  await p.admin('PATCH', `/admin/node-groups/${p.location}`, { reserve: 1 })
  const order = (hostname: string, more: object = {}) =>
    p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname, ...more })
  const ids = []
  for (const name of ['a1', 'a2', 'a3']) ids.push((await order(name, { nodeId: p.node.id })).body.serverId)
  await p.settle()
  const location = (await p.admin('GET', '/admin/node-groups')).data[0]
  expect(location).toMatchObject({ reserve: 1, reserveUnit: 'nodes', reserveMb: 6144, orderableMemoryMb: 0 })
  const before = p.fingerprint()
  const refused = await order('a4')
  expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
    409,
    'no_capacity',
    'Frankfurt keeps 6 GiB of memory in reserve, and 0 MiB are free beyond it. Choose another location, or order ' +
      'with useReserve.',
  ])
  expect(p.fingerprint()).toBe(before)
  const moved = await p.call(p.owner, 'POST', `/admin/servers/${ids[0]}/actions/move`, {})
  expect([moved.status, moved.body.to?.name]).toEqual([202, 'fra-02'])
  await p.settle()
  expect((await order('a4', { useReserve: true })).status).toBe(201)
})

test('a reseller is told neither of the reserve nor of nodes, and has no flag for it', async () => {
  using p = await shop()
  p.db.$client.run(small)
  await p.admin('PATCH', `/admin/node-groups/${p.location}`, { reserve: 90, reserveUnit: 'percent' })
  const order = { ...p.order, ownerId: p.client.id }
  const before = p.fingerprint()
  const refused = await p.call(p.rita, 'POST', '/reseller/servers', order)
  expect([refused.status, refused.body.error]).toMatchObject([
    409,
    {
      code: 'no_capacity',
      message: 'No room in Frankfurt for this package now. Choose another location, or ask your provider.',
    },
  ])
  const flagged = await p.call(p.rita, 'POST', '/reseller/servers', { ...order, useReserve: true })
  expect(flagged.body.error.code).toBe('validation_failed')
  const tooMuch = { reserve: 91, reserveUnit: 'percent' }
  const wrong = await p.call(p.owner, 'PATCH', `/admin/node-groups/${p.location}`, tooMuch)
  expect(wrong.body.error.code).toBe('validation_failed')
  expect(p.fingerprint()).toBe(before)
})

test('what a closed node has left is no reserve: orders are refused until it is open again', async () => {
  using p = await world()
  const other = p.addNode(p.location, 'fra-02')
  p.attach(p.pool, other.id)
  p.db.$client.run(small)
  await p.admin('PATCH', `/admin/node-groups/${p.location}`, { reserve: 7, reserveUnit: 'gb' })
  const order = async (hostname: string) =>
    (await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname })).body.error?.code
  expect(await order('a1')).toBeUndefined()
  await p.admin('PATCH', `/admin/nodes/${other.id}`, { open: false })
  expect(await order('a2')).toBe('no_capacity')
  await p.admin('PATCH', `/admin/nodes/${other.id}`, { open: true })
  expect(await order('a2')).toBeUndefined()
})
