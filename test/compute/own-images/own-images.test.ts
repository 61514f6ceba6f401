// Images that customers bring along: seen by their owner alone, and never fetched from another network than the
// Internet.
import { describe, expect, test } from 'bun:test'
import { emptyQcow2 } from '../../support/guest.ts'
import { type World, world } from '../../support/world/panel.ts'

const checksum = `sha256:${'a'.repeat(64)}`
const url = 'https://images.example.com/own.qcow2'
const GIB = 2 ** 30

/** A panel whose controller reads this file at every address. */
type File = { file?: Buffer; totalBytes?: number }
async function panelWith({ file = emptyQcow2(3 * GIB), totalBytes }: File = {}) {
  const p = await world()
  const asked: string[] = []
  p.controller.app.distributions = {
    read: async () => ({ failure: 'unreachable' }),
    beginning: async (from, bytes) => {
      asked.push(from)
      return { head: file.subarray(0, bytes), totalBytes: totalBytes ?? file.length }
    },
  }
  return Object.assign(p, { asked })
}
const add = (p: World, who = p.customer, body: object = {}, of = who) =>
  p.call(who, 'POST', `/customers/${of.id}/images`, { name: 'Mine', url, checksum, ...body })
const commandOf = (p: World, jobId: string) => JSON.parse(JSON.stringify(p.job(jobId).input)).image

describe('an own image', () => {
  test('is offered to its owner alone, and installed from public addresses alone', async () => {
    using p = await panelWith()
    const { status, body } = await add(p)
    expect([status, body.minDiskGb, body.checksum]).toEqual([201, 3, checksum])
    const offered = async (who: typeof p.customer) =>
      (await p.call(who, 'GET', '/images')).body.data.filter((i: any) => i.own).map((i: any) => i.name)
    const eve = p.account('customer', 'Eve')
    expect([await offered(p.customer), await offered(eve)]).toEqual([['Mine'], []])
    expect((await p.admin('GET', '/admin/images')).data.map((i: any) => i.name)).not.toContain('Mine')
    const { imageId: _, hostname: __, access: ___, ...waiting } = p.order
    const { serverId } = await p.admin('POST', '/admin/servers', waiting)
    const setup = (who: typeof p.customer, imageId: string) =>
      p.call(who, 'POST', `/servers/${serverId}/actions/setup`, {
        imageId,
        hostname: 'web01',
        access: { mode: 'password' },
      })
    const { jobId } = (await setup(p.customer, body.id)).body
    expect(commandOf(p, jobId)).toEqual({ id: body.id, url, format: 'qcow2', checksum, publicOnly: true })
    await p.settle()
    expect((await p.call(p.customer, 'GET', `/servers/${serverId}`)).body).toMatchObject({
      status: 'running',
      image: { name: 'Mine' },
    })
    // An image of staff may have any address that staff chose.
    const { serverId: other } = await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    expect(other).toBeString()
  })
  test('of another is neither seen, changed, removed nor installed, also not by staff for a third', async () => {
    using p = await panelWith()
    const { id } = (await add(p)).body
    const eve = p.account('customer', 'Eve')
    expect((await add(p, eve)).status).toBe(201)
    for (const [method, body] of [
      ['PATCH', { name: 'x' }],
      ['DELETE', undefined],
    ] as const)
      expect((await p.call(eve, method, `/images/${id}`, body)).body.error.code).toBe('image_not_found')
    const order = { ...p.order, ownerId: eve.id, imageId: id }
    const foreign = (await p.call(p.owner, 'POST', '/admin/servers', order)).body.error
    const never = (
      await p.call(p.owner, 'POST', '/admin/servers', {
        ...order,
        imageId: id.replace(/.$/, id.endsWith('0') ? '1' : '0'),
      })
    ).body.error
    expect(foreign).toEqual(never)
  })
  test('is refused at an address that is not public or not https, and nothing is read there', async () => {
    using p = await panelWith()
    const before = p.fingerprint()
    for (const bad of [
      'http://images.example.com/x',
      'https://127.0.0.1/x',
      'https://10.0.0.1/x',
      'https://169.254.169.254/latest',
      'https://[::1]/x',
      'https://user:pass@images.example.com/x',
      'file:///etc/passwd',
      'x',
    ])
      expect([bad, (await add(p, p.customer, { url: bad })).body.error.code]).toEqual([bad, 'validation_failed'])
    expect(p.asked).toEqual([])
    expect(p.fingerprint()).toBe(before)
  })
  test('is refused when it is no disk of its own, or larger than the setting allows', async () => {
    using backed = await panelWith({ file: emptyQcow2(GIB, (head) => head.writeBigUInt64BE(8n, 8)) })
    expect((await add(backed)).body.error.details.fields[0].field).toBe('url')
    using large = await panelWith({ totalBytes: 21 * GIB })
    expect((await add(large)).body.error.message).toContain('20 GiB')
    using p = await panelWith()
    for (let n = 0; n < 20; n++) expect((await add(p, p.customer, { name: `n${n}` })).status).toBe(201)
    expect((await add(p, p.customer, { name: 'n20' })).body.error.code).toBe('limit_reached')
  })
})
