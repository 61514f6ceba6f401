// GPU instances in a group: they stay on their host, and the servers of the group keep the rule with them.
import { expect, test } from 'bun:test'
import { gpuWorld, orderInstance } from '../../support/nodes/instances.ts'

async function joined(policy: string) {
  const p = await gpuWorld()
  p.attach(p.pool, p.host.id)
  const instance = await orderInstance(p)
  const { id } = await p.admin('POST', `/customers/${p.customer.id}/placement-groups`, { name: 'model', policy })
  const path = `/placement-groups/${id}/gpu-instances`
  const { status, body } = await p.call(p.customer, 'POST', path, { instanceId: instance })
  expect([status, body.members]).toMatchObject([200, [{ kind: 'gpu_instance', server: { id: instance } }]])
  const order = (hostname: string, more: object = {}) =>
    p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname, placementGroupId: id, ...more })
  return Object.assign(p, { instance, id, path, placed: order })
}

test('a server that is to be apart from it goes to another node, and is refused on its host', async () => {
  using p = await joined('anti_affinity')
  const refused = await p.placed('web01', { nodeId: p.host.id })
  expect([refused.status, refused.body.error.code]).toEqual([409, 'placement_group_unmet'])
  const { status, body } = await p.placed('web02')
  expect([status, p.server(body.serverId).nodeId]).toEqual([201, p.node.id])
})

test('a server that is to be with it goes to its host', async () => {
  using p = await joined('affinity')
  const { status, body } = await p.placed('web01')
  expect([status, p.server(body.serverId).nodeId]).toEqual([201, p.host.id])
})

test('a broken rule suggests the move of the server, never of the instance', async () => {
  using p = await joined('anti_affinity')
  await p.admin('PATCH', `/placement-groups/${p.id}`, { hard: false })
  const { body } = await p.placed('web01', { nodeId: p.host.id })
  await p.settle()
  const shown = await p.admin('GET', `/placement-groups/${p.id}`)
  expect(shown.violation).toBe('2 of 2 servers share a node: move one.')
  expect(shown.suggestion).toMatchObject({ server: { id: body.serverId }, to: { id: p.node.id } })
})

test("it is in one group at most, and is taken out of it; another account's is not found", async () => {
  using p = await joined('affinity')
  const join = (who: object = p.customer) => p.call(who, 'POST', p.path, { instanceId: p.instance })
  expect((await join()).body.error.code).toBe('already_done')
  const stranger = p.account('customer', 'Eve')
  expect((await join(stranger)).status).toBe(404)
  const out = () => p.call(p.customer, 'DELETE', `${p.path}/${p.instance}`)
  expect((await out()).body.members).toEqual([])
  expect((await out()).body.error.code).toBe('gpu_instance_not_found')
})
