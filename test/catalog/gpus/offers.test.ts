// Images and offers of GPU instances, as staff keep them.
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { decrypt } from '../../../agent/protocol/for-node.ts'
import { registryPurpose } from '../../../agent/protocol/gpu.ts'
import { containerPortsOf, environmentPairs, imageOnWire } from '../../../src/catalog/gpu-images/model.ts'
import { gpuImageById } from '../../../src/catalog/gpu-images/queries.ts'
import { imagesOf, needOf } from '../../../src/catalog/gpu-offers/model.ts'
import { gpuOfferById } from '../../../src/catalog/gpu-offers/queries.ts'
import { addGpuHost, addGpuImage, addGpuOffer } from '../../support/nodes/gpus.ts'
import { type World, world } from '../../support/world/panel.ts'

const refusal = async (p: World, method: string, path: string, body: object) => {
  const before = p.fingerprint(['audit'])
  const reply = await p.call(p.owner, method, path, body)
  expect(p.fingerprint(['audit'])).toBe(before)
  return [reply.status, JSON.stringify(reply.body.error)] as const
}
const login = { registryUsername: 'robot$berth', registryPassword: 'Kj38sLq0pWz7' }

describe('an image', () => {
  test('goes to a node with its login, which that node alone can read, and which nothing shows', async () => {
    using p = await world()
    const id = await addGpuImage(p, { ...login, mostMb: 2 })
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const wire = imageOnWire(gpuImageById(p.db, id)!, publicKey.export({ format: 'jwk' }).x!, p.controller.app.secrets)
    expect(wire).toMatchObject({ id, mostBytes: 2 * 1024 ** 2 })
    expect(JSON.parse(decrypt(privateKey, registryPurpose(id), wire.credentials!))).toEqual({
      username: login.registryUsername,
      password: login.registryPassword,
    })
    expect(JSON.stringify(await p.admin('GET', '/admin/gpu-images'))).not.toContain(login.registryPassword)
    expect(JSON.stringify(p.auditLines())).not.toContain(login.registryPassword)
    expect(JSON.stringify(p.db.$client.query('SELECT * FROM gpu_images').all())).not.toContain(login.registryPassword)
  })
  test('keeps its password until the login is another or none', async () => {
    using p = await world()
    const id = await addGpuImage(p, login)
    const path = `/admin/gpu-images/${id}`
    const stored = () => gpuImageById(p.db, id)!.encryptedRegistryPassword
    const first = stored()
    await p.admin('PATCH', path, { mostMb: 7 })
    expect(stored()).toBe(first)
    const [status, error] = await refusal(p, 'PATCH', path, { registryUsername: 'another' })
    expect(status).toBe(422)
    expect(error).toContain('registryPassword')
    await p.admin('PATCH', path, { registryUsername: 'another', registryPassword: 'Another0pWz7' })
    expect(stored()).not.toBe(first)
    expect(await p.admin('PATCH', path, { registryUsername: null })).toMatchObject({ registryUsername: null })
    expect(stored()).toBeNull()
    expect((await refusal(p, 'PATCH', path, { registryPassword: 'Another0pWz7' }))[0]).toBe(422)
  })
  test('is refused without a digest, with a variable that has no name, and with the port of SSH', async () => {
    using p = await world()
    const good = { name: 'A', reference: `registry.example.com/a@sha256:${'a'.repeat(64)}`, mostMb: 1 }
    for (const body of [
      { ...good, reference: 'registry.example.com/a:latest' },
      { ...good, reference: `a@sha256:${'a'.repeat(64)}` },
      { ...good, environment: ['=value'] },
      { ...good, environment: ['NAME'] },
      { ...good, ports: [22] },
      { ...good, ports: [70_000] },
      { ...good, mostMb: 0 },
    ])
      expect((await refusal(p, 'POST', '/admin/gpu-images', body))[0]).toBe(422)
    const id = await addGpuImage(p)
    const other = { reference: `registry.example.com/b@sha256:${'b'.repeat(64)}` }
    expect((await refusal(p, 'PATCH', `/admin/gpu-images/${id}`, other))[0]).toBe(422)
  })
  test('has no command where the list of it is empty', async () => {
    using p = await world()
    const id = await addGpuImage(p, { command: ['python3', '-m', 'http.server'] })
    expect(gpuImageById(p.db, id)!.command).toEqual(['python3', '-m', 'http.server'])
    expect(await p.admin('PATCH', `/admin/gpu-images/${id}`, { command: [] })).toMatchObject({ command: null })
  })
  test('says which ports people reach and what its environment is', () => {
    expect(containerPortsOf({ jupyter: true, ports: [7860, 8888] })).toEqual([22, 8888, 7860])
    expect(containerPortsOf({ jupyter: false, ports: [] })).toEqual([22])
    expect(environmentPairs(['A=1', 'B=x=y', 'C='])).toEqual([
      { name: 'A', value: '1' },
      { name: 'B', value: 'x=y' },
      { name: 'C', value: '' },
    ])
  })
})

describe('an offer', () => {
  test('has images in their order, of which the first on sale runs', async () => {
    using p = await world()
    const [a, b] = [await addGpuImage(p), await addGpuImage(p)]
    const id = await addGpuOffer(p, { imageIds: [b, a, b] })
    const ids = () => imagesOf(p.db, id).map((image) => image.id)
    expect(ids()).toEqual([b, a])
    await p.admin('PATCH', `/admin/gpu-images/${b}`, { archived: true })
    expect(ids()).toEqual([a])
    await p.admin('PATCH', `/admin/gpu-offers/${id}`, { imageIds: [a, b] })
    await p.admin('PATCH', `/admin/gpu-images/${b}`, { archived: false })
    expect(ids()).toEqual([a, b])
  })
  test('needs no mapped ports where its instances have an address', async () => {
    using p = await world()
    const [mapped, own] = [await addGpuOffer(p), await addGpuOffer(p, { ownIpv4: true })]
    const portsOf = (id: string) => needOf(gpuOfferById(p.db, id)!).ports
    expect([portsOf(mapped), portsOf(own)]).toEqual([3, 0])
  })
  test('is refused with fewer ports than an image of it needs, and so is an image that needs more', async () => {
    using p = await world()
    const imageId = await addGpuImage(p, { jupyter: true, ports: [7860] })
    const body = { name: 'A', model: 'X', cards: 1, vcpus: 1, memoryMb: 1024, workspaceGb: 1, imageIds: [imageId] }
    const [status, error] = await refusal(p, 'POST', '/admin/gpu-offers', { ...body, ports: 2 })
    expect(status).toBe(422)
    expect(error).toContain('needs 3 ports')
    const { id } = await p.admin('POST', '/admin/gpu-offers', { ...body, ports: 3 })
    expect((await refusal(p, 'PATCH', `/admin/gpu-images/${imageId}`, { ports: [1, 2] }))[0]).toBe(422)
    expect((await refusal(p, 'PATCH', `/admin/gpu-offers/${id}`, { ports: 2 }))[0]).toBe(422)
    await p.admin('PATCH', `/admin/gpu-offers/${id}`, { ownIpv4: true, ports: 1 })
    await p.admin('PATCH', `/admin/gpu-images/${imageId}`, { ports: [1, 2] })
    expect((await refusal(p, 'POST', '/admin/gpu-offers', { ...body, name: 'B', imageIds: [] }))[0]).toBe(422)
    const unknown = { ...body, name: 'B', imageIds: [`gim_${'0'.repeat(26)}`] }
    expect((await refusal(p, 'POST', '/admin/gpu-offers', unknown))[0]).toBe(422)
  })
  test('names the models that nodes have, and lists offers by name', async () => {
    using p = await world()
    addGpuHost(p, p.location, 1)
    for (const name of ['B', 'A']) await addGpuOffer(p, { name })
    const list = await p.admin('GET', '/admin/gpu-offers')
    expect(list.data.map(({ name }: { name: string }) => name)).toEqual(['A', 'B'])
    expect(list.models).toEqual([{ model: 'NVIDIA L4', memoryMb: 23_034 }])
    expect((await refusal(p, 'POST', '/admin/gpu-offers', { ...list.data[0] }))[0]).toBe(422)
  })
})
