import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jupyterPurpose } from '../../../agent/protocol/gpu.ts'
import { addGpuImage, addGpuOffer, cardIn, passAll } from '../../support/nodes/gpus.ts'
import {
  addKey,
  checkCards,
  containerOn,
  type GpuWorld,
  gpuWorld,
  instanceEvents,
  namesOf,
  orderInstance,
  power,
  powerOn,
  showInstance,
} from '../../support/nodes/instances.ts'

describe('an order of a GPU instance', () => {
  test('is set up, runs, and tells of both', async () => {
    using p = await gpuWorld()
    const { instanceId, jobId, address } = await p.admin('POST', '/admin/gpu-instances', {
      ...p.instanceOrder,
      name: 'Training',
      billingServiceId: 'whmcs:7',
    })
    expect(address).toBe('10.9.0.2')
    expect((await showInstance(p, instanceId)).status).toBe('creating')
    await p.settle()
    expect(p.job(jobId)).toMatchObject({ kind: 'gpu_instance', state: 'succeeded', subjectId: instanceId })
    const instance = await showInstance(p, instanceId)
    expect(instance).toMatchObject({
      name: 'Training',
      status: 'running',
      offerId: p.offerId,
      location: { id: p.location, name: 'Frankfurt' },
      billingServiceId: 'whmcs:7',
      address: '10.9.0.2',
      ownAddress: false,
      ports: [
        { container: 22, host: 20_000 },
        { container: 8888, host: 20_001 },
      ],
      sshCommand: 'ssh -p 20000 root@10.9.0.2',
      image: { id: p.images[0] },
      cards: [{ model: 'NVIDIA L4', uuid: p.host.cards[0]!.uuid }],
      sshKeys: [{ id: p.keyId, name: 'key 1' }],
      lastEnd: null,
      job: null,
    })
    expect(namesOf(p)).toEqual(['created', 'ready'])
    const [created, ready] = instanceEvents(p)
    expect([created!.data.gpuInstance.status, ready!.data.gpuInstance]).toEqual([
      'creating',
      {
        id: instanceId,
        name: 'Training',
        status: 'running',
        offerId: p.offerId,
        billingProductId: null,
        location: { id: p.location, name: 'Frankfurt' },
        address: '10.9.0.2',
        createdAt: instance.createdAt,
        billingServiceId: 'whmcs:7',
      },
    ])
    expect(ready!.data.customer.id).toBe(p.customer.id)
  })
  test('gives its container the cards, keys, ports, size and environment, and Jupyter a token of its own', async () => {
    using p = await gpuWorld()
    const id = await orderInstance(p)
    const made = containerOn(p, id)!
    expect(made).toMatchObject({
      cards: [p.host.cards[0]!.uuid],
      vcpus: 1,
      memoryMb: 1024,
      address: null,
      ports: [
        { container: 22, host: 20_000 },
        { container: 8888, host: 20_001 },
      ],
      environment: [
        { name: 'HF_HOME', value: '/workspace/hf' },
        { name: 'MODE', value: 'fast' },
      ],
      restartPolicy: 'on_failure',
    })
    expect(made.authorizedKeys).toEqual([expect.stringMatching(/^ssh-ed25519 /)])
    expect(await p.host.agent.host.workspaces.list()).toEqual([id])
    const { jupyterUrl } = await showInstance(p, id)
    const token = p.host.agent.host.decrypt(jupyterPurpose(id), made.jupyterToken!)
    expect(jupyterUrl).toBe(`http://10.9.0.2:20001/?token=${token}`)
    const { environment, jupyter_token: kept } = p.db.$client
      .query('SELECT environment, jupyter_token FROM gpu_instances')
      .get() as Record<string, string>
    expect([environment, kept]).toEqual([null, expect.not.stringContaining(token)])
  })
  test('with an address of its own is reached there by every port', async () => {
    using p = await gpuWorld({ offer: { ownIpv4: true } })
    p.attach(p.pool, p.host.id)
    const id = await orderInstance(p)
    const instance = await showInstance(p, id)
    expect(instance).toMatchObject({
      ownAddress: true,
      address: '203.0.113.10',
      ports: [],
      sshCommand: 'ssh root@203.0.113.10',
    })
    expect(instance.jupyterUrl).toStartWith('http://203.0.113.10:8888/?token=')
    expect(containerOn(p, id)).toMatchObject({ address: '203.0.113.10', ports: [] })
  })
  test('takes the image and the keys that it names', async () => {
    using p = await gpuWorld()
    await addKey(p, p.customer.id, 2)
    const id = await orderInstance(p, { imageId: p.images[1], sshKeyIds: [p.keyId] })
    expect(await showInstance(p, id)).toMatchObject({
      image: { id: p.images[1] },
      sshKeys: [{ id: p.keyId }],
      jupyterUrl: null,
      ports: [{ container: 22, host: 20_000 }],
    })
  })
  test('without keys accepts every key on the account', async () => {
    using p = await gpuWorld()
    const second = await addKey(p, p.customer.id, 2)
    await addKey(p, p.account('customer', 'Stan').id, 3)
    const { sshKeys } = await showInstance(p, await orderInstance(p))
    expect(sshKeys.map((key: { id: string }) => key.id)).toEqual([p.keyId, second])
  })
  test('sells the last card once, and again when it was given back and checked', async () => {
    using p = await gpuWorld()
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => p.call(p.owner, 'POST', '/admin/gpu-instances', p.instanceOrder)),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409])
    const refused = replies.find(({ status }) => status === 409)!
    expect(refused.body.error.code).toBe('no_capacity')
    await p.settle()
    await p.admin('DELETE', `/admin/gpu-instances/${replies.find((r) => r.status === 201)!.body.instanceId}`)
    await p.settle()
    await checkCards(p)
    expect((await p.call(p.owner, 'POST', '/admin/gpu-instances', p.instanceOrder)).status).toBe(201)
  })
  test('that is only checked leaves nothing', async () => {
    using p = await gpuWorld()
    const before = p.fingerprint()
    const { status, body } = await p.call(p.owner, 'POST', '/admin/gpu-instances?dryRun=true', p.instanceOrder)
    expect([status, body]).toEqual([200, { jobId: null, instanceId: null, address: '10.9.0.2' }])
    expect(p.fingerprint()).toBe(before)
  })
})

describe('an order is refused, and leaves nothing,', () => {
  const refused = async (p: Awaited<ReturnType<typeof gpuWorld>>, body: object) => {
    const before = p.fingerprint(['audit', 'tokens', 'sessions'])
    const { status, body: reply } = await p.call(p.owner, 'POST', '/admin/gpu-instances', {
      ...p.instanceOrder,
      ...body,
    })
    expect(p.fingerprint(['audit', 'tokens', 'sessions'])).toBe(before)
    return [status, reply.error.code, reply.error.details?.fields?.[0]?.field]
  }
  test('for an image that its offer does not have, and for one that is archived', async () => {
    using p = await gpuWorld()
    const other = await addGpuImage(p)
    expect(await refused(p, { imageId: other })).toEqual([422, 'validation_failed', 'imageId'])
    await p.admin('PATCH', `/admin/gpu-images/${p.images[1]}`, { archived: true })
    expect(await refused(p, { imageId: p.images[1] })).toEqual([422, 'validation_failed', 'imageId'])
  })
  test('for an offer that is archived or unknown, an unknown location and a key of another', async () => {
    using p = await gpuWorld()
    const foreign = await addKey(p, p.account('customer', 'Stan').id, 3)
    expect(await refused(p, { sshKeyIds: [foreign] })).toEqual([422, 'validation_failed', 'sshKeyIds'])
    expect(await refused(p, { nodeGroupId: 'grp_none' })).toEqual([422, 'validation_failed', 'nodeGroupId'])
    expect(await refused(p, { offerId: 'off_none' })).toEqual([422, 'validation_failed', 'offerId'])
    await p.admin('PATCH', `/admin/gpu-offers/${p.offerId}`, { archived: true })
    expect(await refused(p, {})).toEqual([422, 'validation_failed', 'offerId'])
  })
  test('for a locked customer, a suspended reseller and a quota that is used up', async () => {
    using p = await gpuWorld({ cards: 2 })
    const rex = p.account('reseller', 'Rex')
    const rita = p.account('customer', 'Rita', rex.id)
    const order = { ownerId: rita.id }
    expect(await refused(p, order)).toEqual([409, 'location_not_allowed', undefined])
    await p.admin('PATCH', `/resellers/${rex.id}`, { locationIds: [p.location], quotas: { gpus: 0 } })
    expect(await refused(p, order)).toEqual([409, 'quota_exceeded', undefined])
    await p.admin('PATCH', `/resellers/${rex.id}`, { quotas: { gpus: 1 } })
    await orderInstance(p, order)
    expect(await refused(p, order)).toEqual([409, 'quota_exceeded', undefined])
    await p.admin('POST', `/resellers/${rex.id}/actions/suspend`, { reason: 'overdue' })
    expect(await refused(p, order)).toEqual([409, 'reseller_suspended', undefined])
    await p.admin('POST', `/customers/${p.customer.id}/actions/lock`, { reason: 'overdue' })
    expect(await refused(p, {})).toEqual([409, 'account_locked', undefined])
  })
  test('where the address that it would have is missing', async () => {
    using p = await gpuWorld()
    const offerId = await addGpuOffer(p, { ownIpv4: true, imageIds: [...p.images] })
    expect(await refused(p, { offerId })).toEqual([409, 'no_addresses', undefined])
  })
})

describe('a setup that fails', () => {
  test('says so, leaves nothing on the host, and goes through when it is rebuilt', async () => {
    using p = await gpuWorld()
    p.host.agent.fault({ command: 'container.start', mode: 'fail', times: 1 })
    const id = await orderInstance(p)
    const instance = await showInstance(p, id)
    expect(instance).toMatchObject({ status: 'failed', cards: [{ model: 'NVIDIA L4' }], job: null })
    expect(instance.failure).toBeTruthy()
    expect(namesOf(p)).toEqual(['created', 'failed'])
    expect(instanceEvents(p)[1]!.data).toMatchObject({
      action: 'create',
      error: instance.failure,
      gpuInstance: { status: 'failed' },
    })
    expect([await powerOn(p, id), await p.host.agent.host.workspaces.list()]).toEqual(['absent', []])
    await p.admin('POST', `/gpu-instances/${id}/actions/rebuild`, { imageId: p.images[0] })
    await p.settle()
    expect(await showInstance(p, id)).toMatchObject({ status: 'running', failure: null })
    expect(namesOf(p).slice(2)).toEqual(['image_changed', 'ready'])
  })
  test('because a card does not pass its check keeps what the check found', async () => {
    using p = await gpuWorld()
    const uuid = p.host.cards[0]!.uuid
    p.host.agent.host.gpus.check = async () => [
      { uuid, sellable: false, problems: ['Its memory cannot be cleared.'], clearedMb: 0 },
    ]
    const id = await orderInstance(p)
    const { failure } = await showInstance(p, id)
    expect(failure).toBe('A card of the node is broken.')
    const [card] = (await p.admin('GET', `/admin/gpus?nodeId=${p.host.id}`)).data[0].cards
    expect(card.state).not.toBe('free')
  })
})

describe('a card that fails its check while an instance is set up', () => {
  /** The hosts' own file of faults; this one is not reported, and a check finds it. */
  const slow = (p: GpuWorld, ...cards: { uuid: string }[]) =>
    writeFileSync(
      join(p.host.agent.home, 'cards.json'),
      JSON.stringify(Object.fromEntries(cards.map(({ uuid }) => [uuid, { slow: true }]))),
    )
  const stateOf = (p: GpuWorld, n: number) => {
    const { health, workloadId } = cardIn(p, p.host.id, p.host.cards[n]!.uuid)
    return [health, workloadId]
  }
  const outOfSale = (p: GpuWorld) =>
    p.db.$client
      .query<{ target: string; actor: string; details: string }, []>(
        `SELECT target, actor_id AS actor, details FROM audit WHERE operation = 'gpus.out-of-sale'`,
      )
      .all()

  test('is given back and not sold, and a free one of the host takes its place', async () => {
    using p = await gpuWorld({ cards: 2 })
    slow(p, p.host.cards[0]!)
    const id = await orderInstance(p)
    expect(await showInstance(p, id)).toMatchObject({ status: 'running', cards: [{ uuid: p.host.cards[1]!.uuid }] })
    expect(containerOn(p, id)!.cards).toEqual([p.host.cards[1]!.uuid])
    expect([stateOf(p, 0), stateOf(p, 1)]).toEqual([
      ['failed', null],
      ['passed', id],
    ])
    const lines = outOfSale(p)
    expect(lines).toMatchObject([{ target: cardIn(p, p.host.id, p.host.cards[0]!.uuid).id, actor: 'system' }])
    expect(JSON.parse(lines[0]!.details)).toMatchObject({
      action: 'check_failed',
      problems: [expect.stringContaining('GB/s')],
    })
  })
  test('and whose like all fail ends the setup with the reason; tried again it takes one that is well', async () => {
    using p = await gpuWorld({ cards: 2 })
    slow(p, ...p.host.cards)
    const id = await orderInstance(p)
    expect(await showInstance(p, id)).toMatchObject({ status: 'failed', cards: [] })
    expect(await powerOn(p, id)).toBe('absent')
    expect([stateOf(p, 0), stateOf(p, 1)]).toEqual([
      ['failed', null],
      ['failed', null],
    ])
    expect(outOfSale(p)).toHaveLength(2)
    await power(p, id, 'start')
    expect(await showInstance(p, id)).toMatchObject({ status: 'failed', cards: [] })
    slow(p)
    passAll(p, p.host.id)
    await power(p, id, 'start')
    expect(await showInstance(p, id)).toMatchObject({ status: 'running', failure: null })
    expect(containerOn(p, id)!.cards).toHaveLength(1)
  })
})
