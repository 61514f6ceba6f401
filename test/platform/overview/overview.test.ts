import { describe, expect, test } from 'bun:test'
import type { Permission } from '../../../src/kernel/api/access.ts'
import type { Tx } from '../../../src/kernel/db/open.ts'
import { jobs, type Lane } from '../../../src/kernel/jobs/tables.ts'
import { cardIn, reportCards } from '../../support/nodes/gpus.ts'
import { gpuWorld, orderInstance } from '../../support/nodes/instances.ts'
import { type Panel, panel, type Who, type World, world } from '../../support/world/panel.ts'
import { allPermissions } from '../../support/world/rights.ts'

const overview = (p: Panel) => p.admin('GET', '/admin/overview')
const rows = async (p: Panel) => (await overview(p)).attention.map((a: any) => `${a.level} ${a.what}`) as string[]
const ticks = async (p: Panel) =>
  (await overview(p)).checklist.filter((s: any) => s.done).map((s: any) => s.title) as string[]
/** Waits until a busy controller has written what it put off. */
async function settled(p: Panel) {
  const { waiting } = p.controller.reports as unknown as { waiting: unknown[] }
  do await Bun.sleep(2)
  while (waiting.length)
}

describe('what needs attention', () => {
  test('is nothing when all is well', async () => {
    using p = await world()
    await settled(p)
    expect(await rows(p)).toEqual([])
  })
  test('is a node that is away for half a minute, until it comes back', async () => {
    using p = await world()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.node.agent.disconnect()
    await settled(p)
    expect(await rows(p)).toEqual([])
    p.turnClock(31_000)
    const { attention } = await overview(p)
    expect(attention).toMatchObject([
      {
        level: 'down',
        what: 'fra-01 does not answer.',
        effect: '1 server most likely runs on there, but cannot be seen or changed.',
        action: 'Open node',
        href: `/admin/nodes/${p.node.id}`,
      },
    ])
    expect(Date.parse(attention[0].since)).toBeLessThan(p.now() - 30_000)
    p.node.agent.connect()
    await settled(p)
    expect(await rows(p)).toEqual([])
  })
  test('counts the servers of a node that is away without terminated ones that can be brought back', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.admin('POST', '/admin/servers', { ...p.order, hostname: 'web02' })
    await p.settle()
    const servers = async () => {
      const [{ servers }] = (await p.admin('GET', '/admin/nodes')).data
      const { locations } = await p.admin('GET', '/admin/packages')
      return [servers, locations[0].servers]
    }
    expect(await servers()).toEqual([2, 2])
    await p.admin('DELETE', `/servers/${serverId}`)
    await p.settle()
    expect(await servers()).toEqual([1, 1])
    p.node.agent.disconnect()
    await settled(p)
    p.turnClock(31_000)
    const { effect } = (await overview(p)).attention[0]
    expect(effect).toBe('1 server most likely runs on there, but cannot be seen or changed.')
  })
  test('is a node without an address pool, from its enrolment until it has one', async () => {
    using p = await world()
    const node = p.addNode(p.location, 'fra-02')
    await settled(p)
    const { attention } = await overview(p)
    expect(attention).toMatchObject([
      {
        level: 'warn',
        what: 'fra-02 has no address pool yet.',
        effect: 'It takes no orders for servers with addresses.',
        action: 'Add address pool',
        href: '/admin/ip-pools',
      },
    ])
    const { cookie } = p.owner
    const nodePage = async () => {
      const headers = { Cookie: `__Host-panel=${cookie}` }
      return (
        await p.controller.router.fetch(new Request(`http://localhost/admin/nodes/${node.id}`, { headers }))
      ).text()
    }
    const page = await nodePage()
    expect(page).toContain('It has no address pool yet.')
    expect(page).toMatch(/<a [^>]*href="\/admin\/ip-pools"[^>]*>Add address pool<\/a>/)
    const [pool] = (await p.admin('GET', '/admin/ip-pools')).data
    await p.admin('PUT', `/admin/ip-pools/${pool.id}/nodes`, { nodeIds: [p.node.id, node.id] })
    expect(await rows(p)).toEqual([])
    expect(await nodePage()).not.toContain('It has no address pool yet.')
  })
  test('is of many nodes the first twenty, and how many more there are', async () => {
    using p = await world()
    for (let i = 0; i < 30; i++) p.addNode(p.location, `gone-${i}`).agent.disconnect()
    await settled(p)
    p.turnClock(31_000)
    const found = (await rows(p)).filter((row) => row.includes('does not answer'))
    expect(found).toHaveLength(20)
    expect(await rows(p)).toContain('down 10 more problems with nodes.')
  })
  test('is a backlog of jobs: after 10 minutes in the queue, backups after 2 hours', async () => {
    using p = await world()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    await settled(p)
    const [sample] = p.db.select().from(jobs).all()
    // Written past the runner, which would begin them.
    const queue = (lane: Lane, n: number) => {
      const more = { state: 'queued', lane, createdAt: p.now(), startedAt: null, finishedAt: null } as const
      const add = (id: string) =>
        (p.db as Tx)
          .insert(jobs)
          .values({ ...sample!, id, ...more })
          .run()
      for (let i = 0; i < n; i++) add(`job_${lane}${i}`)
    }
    queue('build', 3)
    queue('bulk', 1)
    p.turnClock(9 * 60_000)
    expect(await rows(p)).toEqual([])
    p.turnClock(2 * 60_000)
    expect(await rows(p)).toEqual(['warn 3 jobs queued for more than 10 minutes.'])
    p.turnClock(2 * 3_600_000)
    expect(await rows(p)).toContain('warn 1 backup or copy queued for more than 2 hours.')
    const { attention } = (await p.call(p.customer, 'GET', '/overview')).body
    expect(attention.filter((a: any) => /queued/.test(a.what))).toEqual([])
  })
  test('is an installation that failed, with its reason, until it is tried again or terminated', async () => {
    using p = await world()
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    const { attention, jobs, servers } = await overview(p)
    expect(attention).toMatchObject([
      { level: 'bad', what: 'The installation of web01 failed.', href: `/admin/servers/${serverId}` },
    ])
    expect(attention[0].effect.length).toBeGreaterThan(5)
    expect([jobs, servers]).toEqual([{ running: 0, failed24h: 1, done24h: 0 }, { failed: 1 }])
    await p.admin('POST', `/servers/${serverId}/actions/reinstall`, { imageId: p.image, access: { mode: 'password' } })
    await p.settle()
    expect(await rows(p)).toEqual([])
    p.turnClock(25 * 3_600_000)
    expect((await overview(p)).jobs).toEqual({ running: 0, failed24h: 0, done24h: 0 })
  })
  test(
    'is a pool with fewer than a twentieth of its addresses left, worse when none is, until some are ' + 'back',
    async () => {
      using p = await world()
      const { data } = await p.admin('GET', `/admin/ip-pools/${p.pool}/addresses`)
      const reserve = (n: number, reservedFor: string | null) =>
        p.admin('PATCH', `/admin/ip-addresses/${data[n].id}`, { reservedFor })
      for (let i = 0; i < 19; i++) await reserve(i, 'x')
      expect(await rows(p)).toEqual([])
      await reserve(19, 'x')
      expect(await rows(p)).toEqual(['bad v4 has 0 free IPv4 addresses left.'])
      await reserve(0, null)
      expect(await rows(p)).toEqual([])
      await p.admin('POST', '/admin/ip-pools', { name: 'large', network: '198.51.100.0/26', gateway: '198.51.100.1' })
      p.db.$client.run(
        "UPDATE addresses SET reserved_for = 'x' WHERE address LIKE '198.51.100.%' AND address NOT IN " +
          "('198.51.100.9', '198.51.100.10')",
      )
      expect(await rows(p)).toEqual(['warn large has 2 free IPv4 addresses left.'])
    },
  )
  test('is a clock that runs wrong by more than 30 seconds', async () => {
    using p = await world()
    const beat = (ahead: number) =>
      p.controller.reports.take(p.node.id, {
        type: 'heartbeat',
        at: p.now() + ahead,
        cpuPercent: 0,
        load1: 0,
        memoryFreeMb: 1,
        pools: [],
        workloads: [],
      })
    await settled(p)
    beat(-95_000)
    await settled(p)
    expect(await rows(p)).toEqual(['warn The clock of fra-01 is 95 s behind.'])
    p.turnClock(61_000)
    beat(20_000)
    await settled(p)
    expect(await rows(p)).toEqual([])
  })
  test('is what differs on a node, foreign machines not counted', async () => {
    using p = await world()
    const say = (vms: any[], foreign: string[]) =>
      p.controller.reports.take(p.node.id, { type: 'inventory', vms, volumes: [], foreign })
    say([], ['win11'])
    await settled(p)
    expect(await rows(p)).toEqual([])
    say([{ workload: `srv_${'0'.repeat(26)}`, power: 'running' }], ['win11'])
    await settled(p)
    expect(await rows(p)).toEqual(['warn fra-01 differs from what should be on it in 1 place.'])
  })
  test('is a step that keeps failing, until it goes through; the worst stands first', async () => {
    using p = await world()
    const { serverId } = await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.db.$client.run(
      `INSERT INTO jobs (id, kind, title, input, state, lane, node_id, subject_type, subject_id, started_by_type,
        started_by_id, started_by_name,
         created_at, started_at, progress, step_n, step_of, step_name, error_code, error_message, tries)
       SELECT 'job_x', 'suspend', 'Suspend web01', input, 'running', lane, node_id, subject_type, subject_id,
       started_by_type, started_by_id, started_by_name,
         1, 1, 0, 1, 1, 'Stopping it', 'no_space', 'The pool is full.', 3 FROM jobs WHERE subject_id = ?`,
      [serverId],
    )
    p.db.$client.run('UPDATE nodes SET skew_ms = 60000')
    expect(await rows(p)).toEqual([
      'bad Suspend web01: a step keeps failing and is being retried.',
      'warn The clock of fra-01 is 60 s ahead.',
    ])
    p.db.$client.run("UPDATE jobs SET state = 'succeeded' WHERE id = 'job_x'")
    expect(await rows(p)).toEqual(['warn The clock of fra-01 is 60 s ahead.'])
  })
  test('is not told to who is not staff, nor what it counts', async () => {
    using p = await world()
    expect((await p.call(p.customer, 'GET', '/admin/overview')).body.error.code).toBe('forbidden')
  })
})

describe('each part is for who may call the operation behind it', () => {
  const behind = {
    servers: '/admin/servers',
    jobs: '/jobs',
    nodes: '/admin/nodes',
    locations: '/admin/node-groups',
    gpus: '/admin/gpus',
  }
  test('whatever the one permission of a role is, and for a token of one scope', async () => {
    using p = await world()
    p.node.agent.fault({ command: 'vm.start', mode: 'fail', times: 1 })
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.db.$client.run('UPDATE nodes SET skew_ms = 60000')
    p.db.$client.run("UPDATE addresses SET reserved_for = 'x'")
    p.db.$client.run("UPDATE deliveries SET state = 'failed'")
    const roles: (Permission | undefined)[] = [undefined, ...allPermissions]
    const lookers: [string, Who][] = roles.map((one) => [one ?? 'nothing', p.staff(one ? [one] : [])])
    for (const scope of ['account:read', 'nodes:read', 'servers:read'] as const)
      lookers.push([`token ${scope}`, p.token(p.owner.id, ['account:read', scope])])
    const all = await overview(p)
    expect(all.attention.length).toBeGreaterThanOrEqual(3)
    for (const [name, who] of lookers) {
      const { body } = await p.call(who, 'GET', '/admin/overview')
      for (const [part, path] of Object.entries(behind)) {
        const allowed = (await p.call(who, 'GET', path)).status === 200
        expect(`${name} ${part} ${body[part] === null ? 'kept back' : 'told'}`).toBe(
          `${name} ${part} ${allowed ? 'told' : 'kept back'}`,
        )
      }
      for (const { href, what } of body.attention) {
        const { cookie } = who
        if (!href || !cookie) continue
        const page = await p.controller.router.fetch(
          new Request(`http://localhost${href.split('#')[0]}`, { headers: { Cookie: `__Host-panel=${cookie}` } }),
        )
        expect(`${name} ${what} ${page.status}`).toBe(`${name} ${what} 200`)
      }
    }
    const described = async (...permissions: Permission[]) =>
      JSON.stringify((await p.call(p.staff(permissions), 'GET', '/admin/overview')).body)
    expect(await described()).not.toMatch(/web01|fra-01|Frankfurt/)
    expect(await described('nodes.read')).not.toContain('web01')
    expect(await described('servers.see_all')).not.toMatch(/fra-01|Frankfurt/)
  })
  test(
    'jobs are counted as they are listed: work on nodes for who sees nodes, that on servers for who sees ' + 'servers',
    async () => {
      using p = await world()
      await p.admin('POST', '/admin/servers', p.order)
      await p.settle()
      p.db.$client.run(
        'INSERT INTO jobs (id, title, kind, input, state, lane, node_id, started_by_type, started_by_id, ' +
          "started_by_name, created_at, finished_at, progress, step_n, step_of, tries) SELECT 'job_ofnode', " +
          "'Install a bridge', kind, input, state, lane, node_id, started_by_type, started_by_id, " +
          'started_by_name, created_at, finished_at, progress, step_n, step_of, tries FROM jobs LIMIT 1',
      )
      const done = async (...permissions: Permission[]) =>
        (await p.call(p.staff(permissions), 'GET', '/admin/overview')).body.jobs?.done24h
      expect([
        await done(),
        await done('servers.see_all'),
        await done('nodes.read'),
        await done('servers.see_all', 'nodes.read'),
      ]).toEqual([undefined, 1, 1, 2])
    },
  )
  test('the page leaves the cards out', async () => {
    using p = await world()
    const page = async (who: Who) =>
      (
        await p.controller.router.fetch(
          new Request('http://localhost/admin', { headers: { Cookie: `__Host-panel=${who.cookie}` } }),
        )
      ).text()
    for (const card of ['href="/admin/nodes"><span>Nodes connected', 'id="capacity"', 'id="changes"']) {
      expect(await page(p.staff([]))).not.toContain(card)
      expect(await page(p.owner)).toContain(card)
    }
  })
})

test('the checklist ticks as things come to be, one by one', async () => {
  using p = await panel()
  expect(await ticks(p)).toEqual(['Public address'])
  const location = (await p.admin('POST', '/admin/node-groups', { name: 'Frankfurt' })).id
  expect(await ticks(p)).toEqual(['Public address', 'First location'])
  const node = p.addNode(location)
  await settled(p)
  expect((await ticks(p)).at(-1)).toBe('First node')
  const pool = await p.admin('POST', '/admin/ip-pools', {
    name: 'v4',
    network: '203.0.113.0/28',
    gateway: '203.0.113.1',
  })
  expect((await ticks(p)).at(-1)).toBe('First node') // a pool that no node routes gives nobody an address
  await p.admin('PUT', `/admin/ip-pools/${pool.id}/nodes`, { nodeIds: [node.id] })
  expect((await ticks(p)).at(-1)).toBe('Address pool')
  const image = p.addImage()
  expect((await ticks(p)).at(-1)).toBe('Image')
  const pack = await p.admin('POST', '/admin/packages', { name: 'S', vcpus: 1, memoryMb: 512, diskGb: 5 })
  expect((await ticks(p)).at(-1)).toBe('Package')
  const customer = p.account('customer', 'Cal')
  expect((await ticks(p)).at(-1)).toBe('First customer')
  await p.admin('POST', '/admin/servers', {
    ownerId: customer.id,
    packageId: pack.id,
    nodeGroupId: location,
    imageId: image,
    hostname: 'web01',
    access: { mode: 'password' },
  })
  await p.settle()
  expect(await ticks(p)).toEqual([
    'Public address',
    'First location',
    'First node',
    'Address pool',
    'Image',
    'Package',
    'First customer',
    'First server',
  ])
  await p.admin('PATCH', `/admin/images/${image}`, { published: false })
  await p.admin('PATCH', `/admin/packages/${pack.id}`, { archived: true })
  expect(await ticks(p)).toEqual([
    'Public address',
    'First location',
    'First node',
    'Address pool',
    'First customer',
    'First server',
  ])
})

describe('the figure of GPU cards', () => {
  const pageOf = async (p: World) => {
    const headers = { Cookie: `__Host-panel=${p.owner.cookie}` }
    return (await p.controller.router.fetch(new Request('http://localhost/admin', { headers }))).text()
  }
  test('says how many are sold, free, broken and missing, where there are any', async () => {
    using empty = await world()
    expect((await overview(empty)).gpus).toEqual({ free: 0, held: 0, checking: 0, closed: 0, broken: 0, missing: 0 })
    expect(await pageOf(empty)).not.toContain('GPUs in use')

    using p = await gpuWorld({ cards: 4 })
    await orderInstance(p)
    const held = p.host.cards.find(({ uuid }) => cardIn(p, p.host.id, uuid).workloadId !== null)!
    const [first, second, third] = p.host.cards.filter((card) => card !== held)
    reportCards(p, p.host.id, { cards: [held, first!, { ...second!, problems: ['It fell off the bus.'] }] })
    expect(third).toBeDefined()
    expect((await overview(p)).gpus).toEqual({ free: 1, held: 1, checking: 0, closed: 0, broken: 1, missing: 1 })
    expect(await pageOf(p)).toContain('1 free, 1 broken and 1 missing')
  })
})

test('a new package begins with IPv6 only where a pool has it, so that the first order is not refused', async () => {
  using p = await world()
  const headers = { Cookie: `__Host-panel=${p.owner.cookie}` }
  const prefix = async () => {
    const html = await (
      await p.controller.router.fetch(new Request('http://localhost/admin/packages/new', { headers }))
    ).text()
    const field = /<input[^>]*name="ipv6Prefix"[^>]*>/.exec(html)![0]
    return /value="(\d+)"/.exec(field)?.[1]
  }
  expect(await prefix()).toBeUndefined()
  await p.admin('POST', '/admin/ip-pools', { name: 'v6', network: '2001:db8::/48', gateway: '2001:db8::1' })
  expect(await prefix()).toBe('64')
})
