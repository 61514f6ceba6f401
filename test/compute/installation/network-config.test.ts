// The version of network-config that an image says is that of every seed of the servers installed with it.
import { describe, expect, test } from 'bun:test'
import { type World, world } from '../../support/world/panel.ts'

const versionIn = (p: World, id: string): number =>
  JSON.parse(p.node.agent.host.seeds.files(id)!['network-config']!).version
async function withAddress(p: World, id: string) {
  await p.admin('POST', `/servers/${id}/ips`, { version: 4 })
  await p.settle()
  return versionIn(p, id)
}
let count = 0
async function ordered(p: World) {
  const { serverId } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: `web${++count}` })
  await p.settle()
  return serverId as string
}
const shown = async (p: World, id: string) =>
  (await p.call(p.owner, 'GET', `/servers/${id}/hardware`)).body.networkConfig

describe('the version of network-config', () => {
  test('is 1 unless the image says otherwise, and a server keeps that of its installation', async () => {
    using p = await world()
    const first = await ordered(p)
    expect([await shown(p, first), await withAddress(p, first)]).toEqual(['v1', 1])
    expect((await p.admin('PATCH', `/admin/images/${p.image}`, { networkConfig: 'v2' })).networkConfig).toBe('v2')
    const second = await ordered(p)
    expect([await shown(p, second), await withAddress(p, second)]).toEqual(['v2', 2])
    expect(await withAddress(p, first)).toBe(1)
  })

  test('changes with a reinstallation', async () => {
    using p = await world()
    const id = await ordered(p)
    await p.admin('PATCH', `/admin/images/${p.image}`, { networkConfig: 'v2' })
    const body = { imageId: p.image, access: { mode: 'password' } }
    expect((await p.call(p.customer, 'POST', `/servers/${id}/actions/reinstall`, body)).status).toBe(202)
    await p.settle()
    expect([await shown(p, id), await withAddress(p, id)]).toEqual(['v2', 2])
  })

  test('is refused when it is none', async () => {
    using p = await world()
    const before = p.fingerprint()
    const { status, body } = await p.call(p.owner, 'PATCH', `/admin/images/${p.image}`, { networkConfig: 'v3' })
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect(p.fingerprint()).toEqual(before)
  })
})
