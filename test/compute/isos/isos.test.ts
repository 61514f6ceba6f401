// ISOs: the library, an account's own, and the CD drive of a server.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import type { RawResponse } from '../../../src/kernel/net/egress.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'

const checksum = `sha256:${'a'.repeat(64)}`
const answers = (totalBytes: number) => async (): Promise<RawResponse> => ({
  status: 206,
  headers: { 'content-range': `bytes 0-511/${totalBytes}` },
  body: Buffer.alloc(512),
})
const add = (p: World, who: Who, more: object = {}) =>
  p.call(who, 'POST', '/isos', { name: 'Tools', url: 'https://mirror.example/tools.iso', checksum, ...more })
const namesFor = async (p: World, who: Who) => (await p.call(who, 'GET', '/isos')).body.data.map((i: any) => i.name)
async function running(p: World): Promise<string> {
  const { serverId } = await p.admin('POST', '/admin/servers', p.order)
  await p.settle()
  return serverId
}
function driveOf(p: World, id: string): string | null {
  const db = new Database(`${p.node.agent.home}/fake.db`, { readonly: true })
  const { iso } = db.query('select iso from vms where workload = ?').get(id) as { iso: string | null }
  db.close()
  return iso
}

test('staff add to the library for everybody, an account adds its own, and nobody sees another’s', async () => {
  using p = await world({ distributions: answers(700_000_000) })
  const stranger = p.account('customer', 'Sam')
  expect((await add(p, p.owner, { name: 'Library' })).body).toMatchObject({ owner: null, sizeBytes: 700_000_000 })
  const { status, body: own } = await add(p, p.customer, { name: 'Own' })
  expect([status, own.owner.id]).toEqual([201, p.customer.id])
  expect(await namesFor(p, p.customer)).toEqual(['Own', 'Library'])
  expect(await namesFor(p, stranger)).toEqual(['Library'])
  const id = await running(p)
  const library = (await p.call(p.owner, 'GET', '/isos')).body.data.find((i: any) => i.owner === null)
  expect((await p.call(p.customer, 'DELETE', `/isos/${library.id}`)).status).toBe(404)
  expect((await p.call(stranger, 'DELETE', `/isos/${own.id}`)).status).toBe(404)
  // Its address is its owner's and staff's.
  expect((await p.call(p.customer, 'GET', '/isos')).body.data.map((i: any) => i.url)).toEqual([own.url, null])
  expect((await p.call(p.customer, 'PUT', `/servers/${id}/iso`, { isoId: 'iso_none' })).status).toBe(422)
})

test('staff add one of a mirror that PANEL_LOCAL_SOURCES names, and a customer does not', async () => {
  using p = await world({ distributions: answers(700_000_000), localSources: '10.7.0.0/24' })
  const at = (host: string) => ({ url: `https://${host}/tools.iso` })
  expect((await add(p, p.owner, at('10.7.0.5'))).status).toBe(201)
  expect((await add(p, p.owner, at('10.7.1.5'))).body.error.code).toBe('validation_failed')
  expect((await add(p, p.customer, at('10.7.0.5'))).body.error.code).toBe('validation_failed')
})

test('a node is told the addresses of all nodes with an image and an ISO: none is their source', async () => {
  using p = await world({ distributions: answers(700_000_000) })
  p.db.$client.run("UPDATE nodes SET facts = json_set(facts, '$.managementAddress', '10.0.0.4/24')")
  const sent: { refused?: string[] }[] = []
  for (const drivers of [p.node.agent.host.isos, p.node.agent.host.images]) {
    const ensure = drivers.ensure.bind(drivers)
    drivers.ensure = (source) => {
      sent.push(source)
      return ensure(source)
    }
  }
  const id = await running(p)
  const { body } = await add(p, p.owner)
  expect((await p.call(p.owner, 'PUT', `/servers/${id}/iso`, { isoId: body.id })).status).toBe(202)
  await p.settle()
  expect(sent.map(({ refused }) => refused)).toEqual([['10.0.0.4'], ['10.0.0.4']])
})

test('what cannot be downloaded, is too large or beyond the limit is refused, and nothing is added', async () => {
  let bytes = 17e9
  using p = await world({ distributions: () => answers(bytes)() })
  const refused = async (more: object, code: string) => {
    const { body } = await add(p, p.customer, more)
    expect(body.error.code).toBe(code)
    expect(p.db.$client.query('SELECT count(*) AS n FROM isos').get()).toEqual({ n: 0 })
  }
  await refused({}, 'validation_failed')
  bytes = Number.NaN
  await refused({}, 'source_unreachable')
  for (const url of ['http://mirror.example/x.iso', 'https://10.0.0.1/x.iso', 'https://u:p@mirror.example/x.iso'])
    await refused({ url }, 'validation_failed')
  bytes = 1e6
  for (let i = 0; i < 10; i++) expect((await add(p, p.customer)).status).toBe(201)
  expect((await add(p, p.customer)).body.error.code).toBe('limit_reached')
  expect((await add(p, p.owner)).status).toBe(201)
})

test('goes into a running server and out of it, and cannot be removed while it is in one', async () => {
  using p = await world({ distributions: answers(1e6) })
  const id = await running(p)
  const iso = (await add(p, p.customer)).body
  const put = async (isoId: string | null) => {
    const { body } = await p.call(p.customer, 'PUT', `/servers/${id}/iso`, { isoId })
    await p.settle()
    return body.jobId as string | null
  }
  expect(p.job((await put(iso.id))!)).toMatchObject({ kind: 'iso', state: 'succeeded' })
  expect(driveOf(p, id)).toContain(iso.id)
  expect(await put(iso.id)).toBe(null)
  expect((await p.call(p.customer, 'GET', `/servers/${id}/hardware`)).body).toEqual({
    machine: 'q35',
    firmware: 'bios',
    tpm: false,
    networkConfig: 'v1',
    os: 'linux',
    bootFirst: 'disk',
    diskBus: 'virtio',
    nicModel: 'virtio',
    iso: { id: iso.id, name: 'Tools' },
  })
  expect((await p.call(p.customer, 'DELETE', `/isos/${iso.id}`)).body.error.code).toBe('in_use')
  // It stays in the drive through other changes of the machine.
  const { id: packageId } = await p.admin('POST', '/admin/packages', {
    name: 'L',
    vcpus: 4,
    memoryMb: 4096,
    diskGb: 20,
  })
  await p.admin('POST', `/servers/${id}/actions/change-package`, { packageId })
  await p.settle()
  expect(driveOf(p, id)).toContain(iso.id)
  await put(null)
  expect(driveOf(p, id)).toBe(null)
  expect((await p.call(p.customer, 'DELETE', `/isos/${iso.id}`)).status).toBe(200)
  await p.settle()
  expect(await p.node.agent.host.isos.find(iso.id)).toBeUndefined()
  expect(await namesFor(p, p.customer)).toEqual([])
})

test('the boot order is in the definition, and a reinstalled server boots its disk again', async () => {
  using p = await world()
  const id = await running(p)
  await p.call(p.customer, 'PUT', `/servers/${id}/boot-order`, { bootFirst: 'cd' })
  await p.settle()
  const first = async () => (await p.call(p.customer, 'GET', `/servers/${id}/hardware`)).body.bootFirst
  expect(await first()).toBe('cd')
  await p.admin('POST', `/servers/${id}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
  await p.settle()
  expect(await first()).toBe('disk')
})
