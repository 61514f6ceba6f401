import { describe, expect, test } from 'bun:test'
import { presets } from '../../../src/identity/tokens/presets.ts'
import { type Who, type World, world } from '../../support/world/panel.ts'
import { share } from '../../support/world/team.ts'

/** A key that is somebody's, with an id that is known before. */
const planted = `key_${'7'.repeat(26)}`
const plantKey = (p: World, ownerId: string) =>
  void p.db.$client.run("INSERT INTO ssh_keys VALUES (?, ?, 'Key', 'ssh-ed25519 AAAA', 'SHA256:x', 1)", [
    planted,
    ownerId,
  ])
const withKey = (id: string) => ({ access: { mode: 'ssh_keys', sshKeyIds: [id] } })

describe('ordering a server', () => {
  test('holds node, address and hostname at once, and builds it in a job', async () => {
    using p = await world()
    const { status, body } = await p.call(p.owner, 'POST', '/admin/servers', p.order)
    expect(status).toBe(201)
    expect(body).toMatchObject({ ipv4: '203.0.113.10', rootPassword: expect.stringMatching(/^[A-Za-z2-9]{20}$/) })
    expect(p.server(body.serverId)).toMatchObject({
      status: 'provisioning',
      hostname: 'web01',
      placement: 'fra-01: most free memory',
    })
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ state: 'succeeded', progress: 100 })
    expect(p.server(body.serverId)).toMatchObject({ status: 'running' })
    expect(p.events()).toEqual(['server.created', 'server.provisioned'])
    expect((await p.node.agent.host.hypervisor.look()).ours).toMatchObject([{ id: body.serverId, power: 'running' }])
    expect(await p.node.agent.host.seeds.path(body.serverId)).toBeUndefined()
  })

  test('keeps the root password nowhere: not in the job, not in the audit log', async () => {
    using p = await world()
    const { body } = await p.call(p.owner, 'POST', '/admin/servers', p.order)
    const texts = (column: string, table: string) => `coalesce((SELECT group_concat(${column}) FROM ${table}), '')`
    const kept = p.db.$client.query<{ t: string }, []>(
      `SELECT ${texts('input', 'jobs')} || ${texts('output', 'job_steps')} || ${texts('text', 'job_log')} ||
        ${texts('details', 'audit')} AS t`,
    )
    // Its hash is there until the job has ended.
    expect(kept.get()!.t).toContain('$6$')
    expect(kept.get()!.t).not.toContain(body.rootPassword)
    await p.settle()
    expect(kept.get()!.t).not.toContain('$6$')
    expect(kept.get()!.t).not.toContain(body.rootPassword)
  })

  test('without an image it waits for its setup, and nothing is installed', async () => {
    using p = await world()
    const { imageId: _, hostname: __, access: ___, ...order } = p.order
    const { status, body } = await p.call(p.owner, 'POST', '/admin/servers', order)
    expect(status).toBe(201)
    expect(body).toEqual({ jobId: null, serverId: body.serverId, ipv4: '203.0.113.10' })
    expect(p.server(body.serverId)).toMatchObject({ status: 'pending_setup', hostname: 'server1' })
    expect(p.events()).toEqual(['server.created'])
    expect(
      (await p.call(p.owner, 'POST', `/servers/${body.serverId}/actions/power`, { action: 'start' })).body.error.code,
    ).toBe('not_set_up')
    // Nothing has to be done on a node: no job, and no "accepted".
    for (const [action, sent] of [
      ['suspend', { reason: 'unpaid' }],
      ['unsuspend', undefined],
    ] as const) {
      const reply = await p.call(p.owner, 'POST', `/servers/${body.serverId}/actions/${action}`, sent, {
        'Idempotency-Key': action,
      })
      expect([reply.status, reply.body]).toEqual([200, { jobId: null, serverId: body.serverId }])
      const again = await p.call(p.owner, 'POST', `/servers/${body.serverId}/actions/${action}`, sent, {
        'Idempotency-Key': action,
      })
      expect([again.status, again.body, again.headers.get('Idempotency-Replayed')]).toEqual([200, reply.body, 'true'])
    }
    const setup = await p.call(p.customer, 'POST', `/servers/${body.serverId}/actions/setup`, {
      imageId: p.image,
      hostname: 'Shop.example.com',
      access: { mode: 'password' },
    })
    expect(setup.status).toBe(202)
    await p.settle()
    expect(p.server(body.serverId)).toMatchObject({ status: 'running', hostname: 'shop.example.com' })
    expect(p.events()).toEqual(['server.created', 'server.suspended', 'server.unsuspended', 'server.provisioned'])
  })

  test('S28: 200 at once for the last 20 addresses: 20 get one each, the others are refused', async () => {
    using p = await world()
    const { imageId: _, hostname: __, access: ___, ...order } = p.order
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => p.call(p.owner, 'POST', '/admin/servers', order)),
    )
    const given = answers.filter((a) => a.status === 201).map((a) => a.body.ipv4)
    expect(new Set(given).size).toBe(20)
    expect(given.length).toBe(20)
    expect(new Set(answers.filter((a) => a.status !== 201).map((a) => `${a.status} ${a.body.error.code}`))).toEqual(
      new Set(['409 no_addresses']),
    )
  })

  const refusals: [string, (p: Awaited<ReturnType<typeof world>>) => Promise<unknown> | unknown, object, string][] = [
    ['an owner that is not there', () => {}, { ownerId: 'usr_00000000000000000000000000' }, '422 validation_failed'],
    [
      'a package that is archived',
      (p) => p.admin('PATCH', `/admin/packages/${p.pack}`, { archived: true }),
      {},
      '422 validation_failed',
    ],
    ['a hostname with an underscore', () => {}, { hostname: 'web_01' }, '422 validation_failed'],
    ['keys that are nobody’s', () => {}, withKey('key_00000000000000000000000000'), '422 validation_failed'],
    [
      'keys of another customer',
      (p) => plantKey(p, p.account('customer', 'Other').id),
      withKey(planted),
      '422 validation_failed',
    ],
    [
      'keys of the member of staff who orders',
      (p) => plantKey(p, p.owner.id),
      withKey(planted),
      '422 validation_failed',
    ],
    [
      'an image that needs a bigger disk',
      (p) => p.admin('PATCH', `/admin/images/${p.image}`, { minDiskGb: 21 }),
      {},
      '422 disk_too_small',
    ],
    [
      'a locked customer',
      (p) => void p.db.$client.run('UPDATE accounts SET locked_at = 1 WHERE id = ?', [p.customer.id]),
      {},
      '409 account_locked',
    ],
    [
      'a closed location',
      (p) => p.admin('PATCH', `/admin/node-groups/${p.location}`, { open: false }),
      {},
      '409 location_closed',
    ],
    [
      'a hostname that the customer has already',
      (p) => p.call(p.owner, 'POST', '/admin/servers', p.order).then(() => p.settle()),
      { hostname: 'WEB01' },
      '409 hostname_taken',
    ],
    [
      'a package larger than any node',
      (p) => p.admin('PATCH', `/admin/packages/${p.pack}`, { memoryMb: 100_000 }),
      {},
      '409 no_capacity',
    ],
    [
      'a node that is away',
      (p) => {
        p.node.agent.disconnect()
        p.turnClock(61_000)
      },
      {},
      '409 no_capacity',
    ],
    ['a node that is reconnecting', (p) => p.node.agent.disconnect(), {}, '503 restarting'],
    [
      'no pool on the node',
      (p) => p.admin('PUT', `/admin/ip-pools/${p.pool}/nodes`, { nodeIds: [] }),
      {},
      '409 no_addresses',
    ],
  ]
  for (const [what, before, change, expected] of refusals)
    test(`${what} is refused, and nothing happens`, async () => {
      using p = await world()
      await before(p)
      const untouched = p.fingerprint()
      const { status, body } = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, ...change })
      expect(`${status} ${body.error?.code}`).toBe(expected)
      const rehearsed = await p.call(p.owner, 'POST', '/admin/servers?dryRun=true', { ...p.order, ...change })
      expect([rehearsed.status, rehearsed.body]).toEqual([status, body])
      expect(p.fingerprint()).toBe(untouched)
    })

  test('a dry run answers the address that is next, and nothing is held, told or remembered', async () => {
    using p = await world()
    const untouched = p.fingerprint()
    const key = { 'Idempotency-Key': 'order-1' }
    const rehearsal = () => p.call(p.owner, 'POST', '/admin/servers?dryRun=true', p.order, key)
    for (const _ of [1, 2]) {
      const { status, body, headers } = await rehearsal()
      expect([status, body]).toEqual([200, { jobId: null, serverId: null, ipv4: '203.0.113.10' }])
      expect(headers.get('Idempotency-Replayed')).toBeNull()
    }
    await p.settle()
    expect(p.fingerprint()).toBe(untouched)
    const real = await p.call(p.owner, 'POST', '/admin/servers?dryRun=false', p.order, key)
    expect([real.status, real.body.ipv4]).toEqual([201, '203.0.113.10'])
    expect((await rehearsal()).body.error.code).toBe('hostname_taken')
  })

  test("an order keeps the billing system's identifier, by which it is found and which events carry", async () => {
    using p = await world()
    const { body } = await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, billingServiceId: 'whmcs:17' })
    await p.call(p.owner, 'POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    const found = async (query: string, who: Who = p.owner) =>
      (await p.call(who, 'GET', `/admin/servers?${query}`)).body.data.map((s: { id: string }) => s.id)
    expect(await found('billingServiceId=whmcs:17')).toEqual([body.serverId])
    expect(await found('billingServiceId=whmcs:1')).toEqual([])
    expect(await found('q=whmcs:17')).toEqual([body.serverId])
    expect(await found('q=whmcs:1')).toEqual([])
    expect((await p.admin('GET', '/search?q=whmcs:17')).data).toMatchObject([{ type: 'server', id: body.serverId }])
    await p.admin('PATCH', `/customers/${p.customer.id}`, { externalId: '4711' })
    expect((await found('externalId=4711')).length).toBe(2)
    expect(await found('externalId=471')).toEqual([])
    const event = p.db.$client.query("SELECT data FROM events WHERE data LIKE '%whmcs:17%'").get() as { data: string }
    expect(JSON.parse(event.data).server).toMatchObject({ id: body.serverId, billingServiceId: 'whmcs:17' })
    const billing = p.token(p.owner.id, presets.billing)
    const changed = await p.call(billing, 'PATCH', `/servers/${body.serverId}/billing`, {
      billingServiceId: 'whmcs:18',
    })
    expect([changed.status, changed.body.billingServiceId]).toEqual([200, 'whmcs:18'])
    expect(await found('billingServiceId=whmcs:18', billing)).toEqual([body.serverId])
    // A friend sees the server and neither identifier, and cannot guess one by looking for it.
    const friend = p.account('customer', 'Friend')
    await share(p, p.customer, friend, 'view', body.serverId)
    const seen = async (query: string) => (await p.call(friend, 'GET', `/servers?${query}`)).body.data.length
    expect([await seen(''), await seen('billingServiceId=whmcs:18'), await seen('externalId=4711')]).toEqual([1, 0, 0])
    const removed = await p.admin('PATCH', `/servers/${body.serverId}/billing`, { billingServiceId: null })
    expect(removed.billingServiceId).toBeNull()
  })

  test(
    'an Idempotency-Key gives one server, and the same answer with its password, however often it is ' + 'sent',
    async () => {
      using p = await world()
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          p.call(p.owner, 'POST', '/admin/servers', p.order, { 'Idempotency-Key': 'order-1' }),
        ),
      )
      expect(new Set(answers.map((a) => JSON.stringify(a.body))).size).toBe(1)
      expect(answers.filter((a) => a.headers.get('Idempotency-Replayed') === 'true').length).toBe(19)
      expect(p.db.$client.query('SELECT count(*) AS n FROM servers').get()).toEqual({ n: 1 })
      // A token, since the session is over by then.
      const token = p.token(p.owner.id)
      const again = () =>
        p.call(token, 'POST', '/admin/servers', { ...p.order, hostname: 'web02' }, { 'Idempotency-Key': 'order-1' })
      p.turnClock(23 * 3600_000)
      expect((await again()).body).toEqual(answers[0]!.body)
      p.turnClock(3600_000 + 1000)
      const tomorrow = await again()
      expect([tomorrow.status, tomorrow.headers.has('Idempotency-Replayed')]).toEqual([201, false])
      expect(tomorrow.body.serverId).not.toBe(answers[0]!.body.serverId)
      expect(p.db.$client.query('SELECT count(*) AS n FROM servers').get()).toEqual({ n: 2 })
    },
  )

  test('a failed installation gives everything back on the node, and can be tried again or terminated', async () => {
    using p = await world()
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    const { body } = await p.call(p.owner, 'POST', '/admin/servers', p.order)
    await p.settle()
    expect(p.job(body.jobId)).toMatchObject({ state: 'failed', errorCode: 'fault' })
    expect(p.server(body.serverId).status).toBe('failed')
    expect((await p.node.agent.host.hypervisor.look()).ours).toEqual([])
    expect(await p.node.agent.host.storage.list()).toEqual([])
    const again = await p.call(p.customer, 'POST', `/servers/${body.serverId}/actions/reinstall`, {
      imageId: p.image,
      access: { mode: 'password' },
    })
    expect(again.status).toBe(202)
    await p.settle()
    expect(p.server(body.serverId).status).toBe('running')
    expect((await p.call(p.owner, 'DELETE', `/servers/${body.serverId}?immediately=true`)).status).toBe(202)
    await p.settle()
    expect(p.server(body.serverId)).toMatchObject({ status: 'terminated', releasedAt: expect.any(Number) })
    expect(p.db.$client.query('SELECT count(workload_id) AS n FROM addresses').get()).toEqual({ n: 0 })
    expect((await p.call(p.customer, 'GET', `/servers/${body.serverId}`)).status).toBe(404)
  })
})

describe('placing a server', () => {
  test('spread takes the node with most free memory of those that are open', async () => {
    using p = await world()
    const second = p.addNode(p.location, 'fra-02', { memoryMb: 1024 })
    const third = p.addNode(p.location, 'fra-03', { memoryMb: 128_000 })
    p.attach(p.pool, second.id)
    p.attach(p.pool, third.id)
    await p.admin('PATCH', `/admin/nodes/${p.node.id}`, { open: false })
    const { body } = await p.call(p.owner, 'POST', '/admin/servers', p.order)
    expect(p.server(body.serverId).placement).toBe('fra-03: most free memory')
  })
})
