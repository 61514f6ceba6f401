// GPU instances that customers and resellers order themselves: where the offer and their limit allow it, only there.
import { describe, expect, test } from 'bun:test'
import { addKey, type GpuWorld, gpuWorld, instanceEvents, showInstance } from '../../support/nodes/instances.ts'

const offered = { selfService: true, price: '1.99', currency: 'EUR', pricePer: 'hour' }
/** A customer of the house that may have so many GPUs, and an offer that it may order. */
async function shop({
  cards = 2,
  gpuLimit = 1,
  offer = {},
}: {
  cards?: number
  gpuLimit?: number
  offer?: object
} = {}) {
  const p = await gpuWorld({ cards, offer: { ...offered, ...offer } })
  if (gpuLimit) await p.admin('PUT', `/customers/${p.customer.id}/gpu-limit`, { gpuLimit })
  return p
}
const bodyOf = ({ offerId, location }: GpuWorld) => ({ offerId, nodeGroupId: location })
/** The code and what stands in the answer; nothing happened. */
async function refused(p: GpuWorld, who: Parameters<GpuWorld['call']>[0], path: string, body: object) {
  const before = p.fingerprint(['audit'])
  const reply = await p.call(who, 'POST', path, body)
  expect(p.fingerprint(['audit'])).toBe(before)
  return [reply.status, reply.body.error.code]
}
const offersFor = async (p: GpuWorld, who: Parameters<GpuWorld['call']>[0]) => {
  const { status, body } = await p.call(who, 'GET', '/gpu-offers')
  expect(status).toBe(200)
  return body
}

describe('a customer', () => {
  test('orders an instance that is set up as one of staff, and billing is told who ordered it', async () => {
    using p = await shop()
    const second = await addKey(p, p.customer.id, 2)
    const order = { ...bodyOf(p), imageId: p.images[0], name: 'Notebook', sshKeyIds: [second], httpPorts: [8888, 8888] }
    const { status, body } = await p.call(p.customer, 'POST', '/gpu-instances', order)
    expect(status).toBe(201)
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ kind: 'gpu_instance', state: 'succeeded' })
    expect(await showInstance(p, body.instanceId)).toMatchObject({
      name: 'Notebook',
      status: 'running',
      owner: { id: p.customer.id },
      image: { id: p.images[0] },
      sshKeys: [{ id: second }],
      price: { amount: '1.99', currency: 'EUR', per: 'hour' },
    })
    const [created] = instanceEvents(p)
    expect([created!.type, created!.data.orderedBy, created!.data.customer.id]).toEqual([
      'created',
      'customer',
      p.customer.id,
    ])
    expect(p.auditLines().filter(({ operation }) => operation === 'gpu-instances.order')).toHaveLength(1)
  })
  test('sets environment variables with the order: the container has them from its first start', async () => {
    using p = await shop()
    const environment = ['HF_TOKEN=hf_secret', 'MODE=train=1']
    const { body } = await p.call(p.customer, 'POST', '/gpu-instances', { ...bodyOf(p), environment })
    await p.settle()
    expect((await showInstance(p, body.instanceId)).environment).toEqual(environment)
    expect(p.host.agent.host.containers.definition(body.instanceId).environment).toEqual(
      expect.arrayContaining([
        { name: 'HF_TOKEN', value: 'hf_secret' },
        { name: 'MODE', value: 'train=1' },
      ]),
    )
    expect(JSON.stringify(p.auditLines())).not.toContain('hf_secret')
  })
  test('is refused a variable that is named twice, or is none', async () => {
    using p = await shop()
    for (const environment of [['A=1', 'A=2'], ['no value'], ['=1']])
      expect(await refused(p, p.customer, '/gpu-instances', { ...bodyOf(p), environment })).toEqual([
        422,
        'validation_failed',
      ])
  })
  test('sends the same key twice and gets one instance', async () => {
    using p = await shop({ gpuLimit: 2 })
    const order = () => p.call(p.customer, 'POST', '/gpu-instances', bodyOf(p), { 'Idempotency-Key': 'order-1' })
    const [first, again] = [await order(), await order()]
    expect(again.body).toEqual(first.body)
    expect((await p.call(p.customer, 'GET', '/gpu-instances')).body.total).toBe(1)
  })
  test('is told the price, the images and what is free before, and nothing of hosts or stock', async () => {
    using p = await shop()
    const { data, limit, notOrderable } = await offersFor(p, p.customer)
    expect({ limit, notOrderable }).toEqual({ limit: { gpus: 1, used: 0 }, notOrderable: null })
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({
      id: p.offerId,
      model: 'NVIDIA L4',
      price: { amount: '1.99', currency: 'EUR', per: 'hour' },
      locations: [{ id: p.location, name: 'Frankfurt', available: true }],
      withinLimit: true,
    })
    expect(data[0].images.map(({ id, opensPort }: any) => [id, opensPort])).toEqual([
      [p.images[0], 8888],
      [p.images[1], null],
    ])
    expect(JSON.stringify(data)).not.toContain('gpu-01')
  })
  test('with its limit reached gets no more, until one is deleted', async () => {
    using p = await shop()
    const first = await p.call(p.customer, 'POST', '/gpu-instances', bodyOf(p))
    await p.settle()
    expect(await refused(p, p.customer, '/gpu-instances', bodyOf(p))).toEqual([422, 'limit_reached'])
    expect((await offersFor(p, p.customer)).data[0].withinLimit).toBe(false)
    await p.admin('DELETE', `/admin/gpu-instances/${first.body.instanceId}`)
    await p.settle()
    expect((await p.call(p.customer, 'POST', '/gpu-instances', bodyOf(p))).status).toBe(201)
  })
  test('with an instance that billing ordered has used its limit too', async () => {
    using p = await shop()
    await p.admin('POST', '/admin/gpu-instances', p.instanceOrder)
    await p.settle()
    expect(await refused(p, p.customer, '/gpu-instances', bodyOf(p))).toEqual([422, 'limit_reached'])
  })
  test('without a limit, or of an offer that is not for it, orders nothing and sees no offer', async () => {
    using p = await shop({ gpuLimit: 0 })
    expect(await refused(p, p.customer, '/gpu-instances', bodyOf(p))).toEqual([422, 'limit_reached'])
    expect(await offersFor(p, p.customer)).toMatchObject({ data: [], notOrderable: expect.any(String) })
    await p.admin('PUT', `/customers/${p.customer.id}/gpu-limit`, { gpuLimit: 5 })
    for (const change of [{ selfService: false }, { selfService: true, archived: true }]) {
      await p.admin('PATCH', `/admin/gpu-offers/${p.offerId}`, change)
      expect(await refused(p, p.customer, '/gpu-instances', bodyOf(p))).toEqual([422, 'validation_failed'])
      expect((await offersFor(p, p.customer)).data).toEqual([])
    }
  })
  test('who is locked orders nothing, and reads why', async () => {
    using p = await shop()
    await p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'overdue' })
    expect(await refused(p, p.customer, '/gpu-instances', bodyOf(p))).toEqual([409, 'account_locked'])
    expect((await offersFor(p, p.customer)).notOrderable).toContain('locked')
  })
  test('is refused where every card is held, and the page says sold out', async () => {
    using p = await shop({ cards: 1, gpuLimit: 2 })
    await p.admin('POST', '/admin/gpu-instances', { ...p.instanceOrder, ownerId: p.account('customer', 'Other').id })
    await p.settle()
    expect((await offersFor(p, p.customer)).data[0].locations).toMatchObject([{ available: false }])
    expect(await refused(p, p.customer, '/gpu-instances', bodyOf(p))).toEqual([409, 'no_capacity'])
  })
  test('names nobody else: neither another owner, nor keys of another, nor an identifier of billing', async () => {
    using p = await shop()
    const other = p.account('customer', 'Other')
    const theirs = await addKey(p, other.id, 9)
    for (const more of [{ ownerId: other.id }, { billingServiceId: 'whmcs:1' }, { sshKeyIds: [theirs] }])
      expect(await refused(p, p.customer, '/gpu-instances', { ...bodyOf(p), ...more })).toEqual([
        422,
        'validation_failed',
      ])
  })
  test('whose token lacks the scope to order orders nothing', async () => {
    using p = await shop()
    const token = p.token(p.customer.id, ['servers:read', 'servers:settings', 'servers:reinstall'])
    expect(await refused(p, token, '/gpu-instances', bodyOf(p))).toEqual([403, 'missing_scope'])
  })
  test('may try an order without its taking place', async () => {
    using p = await shop()
    const before = p.fingerprint(['audit'])
    const { status, body } = await p.call(p.customer, 'POST', '/gpu-instances?dryRun=true', bodyOf(p))
    expect([status, body.instanceId, body.address]).toEqual([200, null, '10.9.0.2'])
    expect(p.fingerprint(['audit'])).toBe(before)
  })
})

describe('a reseller', () => {
  /** One that may place in the location, with a customer. */
  async function selling(quota: number | null = null) {
    const p = await shop()
    const rex = p.account('reseller', 'Rex')
    const clara = p.account('customer', 'Clara', rex.id)
    await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location], quotas: { gpus: quota } })
    return Object.assign(p, { rex, clara })
  }
  test('orders for itself and for its customer within its quota, and for nobody else', async () => {
    using p = await selling(2)
    for (const ownerId of [p.rex.id, p.clara.id]) {
      const { status } = await p.call(p.rex, 'POST', '/reseller/gpu-instances', { ...bodyOf(p), ownerId })
      expect(status).toBe(201)
    }
    await p.settle()
    const created = instanceEvents(p).filter(({ type }) => type === 'created')
    expect(created.map(({ data }) => data.orderedBy)).toEqual(['reseller', 'reseller'])
    const order = (ownerId: string) => refused(p, p.rex, '/reseller/gpu-instances', { ...bodyOf(p), ownerId })
    expect(await order(p.clara.id)).toEqual([409, 'quota_exceeded'])
    expect(await order(p.customer.id)).toEqual([422, 'validation_failed'])
  })
  test('sees offers in its locations only, and stock of them', async () => {
    using p = await selling()
    expect((await offersFor(p, p.rex)).data[0].locations).toHaveLength(1)
    expect((await p.call(p.rex, 'GET', '/stock')).body.gpuStock).toMatchObject([{ offerId: p.offerId, available: 2 }])
    await p.admin('PATCH', `/resellers/${p.rex.id}`, { locationIds: [] })
    expect((await offersFor(p, p.rex)).data[0].locations).toEqual([])
    const body = { ...bodyOf(p), ownerId: p.clara.id }
    expect(await refused(p, p.rex, '/reseller/gpu-instances', body)).toEqual([409, 'location_not_allowed'])
  })
  test('who is suspended orders nothing, nor does its customer', async () => {
    using p = await selling()
    expect((await p.call(p.rex, 'PUT', `/customers/${p.clara.id}/gpu-limit`, { gpuLimit: 1 })).status).toBe(200)
    await p.admin('POST', `/resellers/${p.rex.id}/actions/suspend`, { reason: 'overdue' })
    const body = bodyOf(p)
    expect(await refused(p, p.rex, '/reseller/gpu-instances', { ...body, ownerId: p.clara.id })).toEqual([
      409,
      'reseller_suspended',
    ])
    expect(await refused(p, p.clara, '/gpu-instances', body)).toEqual([409, 'reseller_suspended'])
  })
  test('lets a customer order by its limit; the prices of the house are not for that customer', async () => {
    using p = await selling(1)
    await p.call(p.rex, 'PUT', `/customers/${p.clara.id}/gpu-limit`, { gpuLimit: 5 })
    expect((await offersFor(p, p.clara)).data[0].price).toBeNull()
    expect((await offersFor(p, p.rex)).data[0].price).toMatchObject({ amount: '1.99' })
    const { body } = await p.call(p.clara, 'POST', '/gpu-instances', bodyOf(p))
    await p.settle()
    const seen = async (who: typeof p.clara) =>
      (await p.call(who, 'GET', `/gpu-instances/${body.instanceId}`)).body.price
    expect([await seen(p.clara), await seen(p.rex)]).toEqual([null, { amount: '1.99', currency: 'EUR', per: 'hour' }])
    expect(await refused(p, p.clara, '/gpu-instances', bodyOf(p))).toEqual([409, 'quota_exceeded'])
  })
  test('has no limit of its own to set, and sets that of no other customer', async () => {
    using p = await selling()
    const before = p.fingerprint(['audit'])
    for (const id of [p.rex.id, p.customer.id])
      expect((await p.call(p.rex, 'PUT', `/customers/${id}/gpu-limit`, { gpuLimit: 9 })).status).toBeOneOf([403, 404])
    expect((await p.call(p.owner, 'PUT', `/customers/${p.rex.id}/gpu-limit`, { gpuLimit: 9 })).body.error.code).toBe(
      'not_possible',
    )
    expect(p.fingerprint(['audit'])).toBe(before)
  })
})

describe('what an operator keeps', () => {
  test('a price has an amount and a currency, or neither', async () => {
    using p = await shop()
    for (const [path, change] of [
      [`/admin/gpu-offers/${p.offerId}`, { price: null }],
      [`/admin/gpu-offers/${p.offerId}`, { currency: null }],
      [`/admin/packages/${p.order.packageId}`, { price: '5' }],
      [`/admin/packages/${p.order.packageId}`, { price: '5,00', currency: 'EUR' }],
      [`/admin/packages/${p.order.packageId}`, { price: '5', currency: 'Euro' }],
    ] as const) {
      const before = p.fingerprint(['audit'])
      expect((await p.call(p.owner, 'PATCH', path, change)).status).toBe(422)
      expect(p.fingerprint(['audit'])).toBe(before)
    }
    const priced = { price: '5', currency: 'EUR', pricePer: 'month' }
    expect(await p.admin('PATCH', `/admin/packages/${p.order.packageId}`, priced)).toMatchObject(priced)
    const none = await p.admin('PATCH', `/admin/gpu-offers/${p.offerId}`, { price: null, currency: null })
    expect(none).toMatchObject({ price: null, currency: null })
  })
  test('the way into an image is a port that people reach, and its instances link to it', async () => {
    using p = await shop()
    const path = `/admin/gpu-images/${p.images[1]}`
    for (const change of [{ opensPort: 22 }, { opensPort: 7860 }, { docsUrl: 'http://docs.example.com' }])
      expect((await p.call(p.owner, 'PATCH', path, change)).status).toBe(422)
    const page = {
      opensPort: 7860,
      ports: [7860],
      docsUrl: 'https://docs.example.com/a',
      icon: 'image',
      description: 'A',
    }
    expect(await p.admin('PATCH', path, page)).toMatchObject(page)
    expect((await p.call(p.owner, 'PATCH', path, { ports: [] })).status).toBe(422)
    const { body } = await p.call(p.customer, 'POST', '/gpu-instances', { ...bodyOf(p), imageId: p.images[1] })
    await p.settle()
    expect(await showInstance(p, body.instanceId)).toMatchObject({
      openUrl: 'http://10.9.0.2:20001/',
      jupyterUrl: null,
      image: { docsUrl: 'https://docs.example.com/a' },
    })
  })
})

test('staff see every offer that is on sale, whatever customers may order, and no limit of their own', async () => {
  using p = await gpuWorld({ offer: { selfService: false } })
  const { data, limit, notOrderable } = await offersFor(p, p.owner)
  expect(data).toMatchObject([{ id: p.offerId, withinLimit: true, locations: [{ id: p.location, available: true }] }])
  expect([limit, notOrderable]).toEqual([{ gpus: null, used: 0 }, null])
  await p.admin('PATCH', `/admin/gpu-offers/${p.offerId}`, { archived: true })
  expect((await offersFor(p, p.owner)).data).toEqual([])
})
