// Rights on GPU instances: those of resellers, of tokens and of team members are the same as on servers.
import { expect, test } from 'bun:test'
import { gpuWorld, orderInstance, powerOn, showInstance } from '../../support/nodes/instances.ts'
import { share } from '../../support/world/team.ts'

const stop = { action: 'stop' }

test('a reseller reads and stops the instances of its customers, and finds no others', async () => {
  using p = await gpuWorld({ cards: 2 })
  const rex = p.account('reseller', 'Rex')
  const clara = p.account('customer', 'Clara', rex.id)
  await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location], quotas: { gpus: 1 } })
  const [theirs, other] = [await orderInstance(p, { ownerId: clara.id }), await orderInstance(p)]

  const { data } = (await p.call(rex, 'GET', '/gpu-instances')).body
  expect(data.map(({ id }: { id: string }) => id)).toEqual([theirs])
  const { status, body } = await p.call(rex, 'POST', `/gpu-instances/${other}/actions/power`, stop)
  expect([status, body.error.code]).toEqual([404, 'gpu_instance_not_found'])
  expect(await powerOn(p, other)).toBe('running')

  expect((await p.call(rex, 'POST', `/gpu-instances/${theirs}/actions/power`, stop)).status).toBe(202)
  await p.settle()
  expect(await powerOn(p, theirs)).toBe('stopped')
})

test('a token and a team member who may only read stop nothing and delete nothing', async () => {
  using p = await gpuWorld()
  const id = await orderInstance(p)
  const viewer = p.account('customer', 'Vera')
  await share(p, p.customer, viewer, 'view')
  const before = await showInstance(p, id)
  for (const [who, code] of [
    [p.token(p.customer.id, ['servers:read']), 'missing_scope'],
    [viewer, 'forbidden'],
  ] as const) {
    expect((await p.call(who, 'GET', `/gpu-instances/${id}`)).status).toBe(200)
    for (const [method, path, sent] of [
      ['POST', `/gpu-instances/${id}/actions/power`, stop],
      ['PATCH', `/gpu-instances/${id}`, { name: 'mine' }],
      ['DELETE', `/gpu-instances/${id}`, undefined],
    ] as const)
      expect((await p.call(who, method, path, sent)).body.error.code).toBe(code)
  }
  await p.settle()
  expect(await powerOn(p, id)).toBe('running')
  expect(await showInstance(p, id)).toEqual(before)
})
