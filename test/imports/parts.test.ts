// Points 5, 7 and 17 of Imports: packages, ranges and hypervisors.
import { describe, expect, test } from 'bun:test'
import { hypervisor, pack, range, server, v4, v6 } from './panel-in-memory.ts'
import {
  begin,
  discovered,
  giveAddresses,
  imported,
  map,
  offered,
  open,
  refused,
  row,
  rows,
  servers,
  settled,
  withheld,
} from './world.ts'

const path = (p: { id: string }) => `/admin/migrations/${p.id}/mapping`

describe('packages', () => {
  test('Mapping chooses which own package each source package becomes', async () => {
    using p = await imported()
    expect(await row(p, 'packages', '1')).toMatchObject({
      choice: 'own',
      isProposed: true,
      difference: 'same size',
      package: { id: p.pack, name: 'KVM 2G' },
    })
    const big = await p.admin('POST', '/admin/packages', { name: 'Big', vcpus: 4, memoryMb: 4096, diskGb: 80 })
    await map(p, p.id, { packages: [{ sourceId: '1', choice: 'own', packageId: big.id }] })
    expect(await row(p, 'packages', '1')).toMatchObject({
      isProposed: false,
      difference: '60 GiB more disk, 2 GiB more memory and 2 vCPU more',
    })
    expect((await servers(p))[0].becomes.packageId).toBe(big.id)
  })

  test('or Leave out of this import, keeping its servers on the source', async () => {
    using p = await imported({ packages: [pack('1'), pack('2')], servers: [server(1), server(2, { packageId: '2' })] })
    await map(p, p.id, { packages: [{ sourceId: '2', choice: 'leave_out' }] })
    expect((await servers(p)).map(({ state, reason }: any) => [state, reason])).toEqual([
      ['waiting', null],
      ['left_out', 'Left out of this import with its package'],
    ])
    await map(p, p.id, { packages: [{ sourceId: '2', choice: 'own', packageId: p.pack }] })
    expect((await servers(p))[1].state).toBe('waiting')
  })

  test('one like it has the exact size of the source, and nothing is made before the import starts', async () => {
    using p = await imported({
      packages: [
        pack('1', { name: 'SSD-8', vcpus: 4, memoryMb: 8192, diskGb: 119.5, trafficBytes: 2e12, billingId: 'whmcs:8' }),
      ],
      servers: [server(1, { vcpus: 4, memoryMb: 8192, diskGb: 119.5 })],
    })
    expect(await row(p, 'packages', '1')).toMatchObject({ choice: null })
    await map(p, p.id, { packages: [{ sourceId: '1', choice: 'like' }] })
    expect((await row(p, 'packages', '1')).like).toEqual({
      name: 'SSD-8',
      vcpus: 4,
      memoryMb: 8192,
      diskGb: 120,
      trafficGb: 2000,
      portMbps: 1000,
      billingProductId: 'whmcs:8',
      isOnSale: false,
    })
    await map(p, p.id, { packages: [{ sourceId: '1', choice: 'like', changes: { name: 'Old 8', isOnSale: true } }] })
    expect((await row(p, 'packages', '1')).like).toMatchObject({ name: 'Old 8', diskGb: 120, isOnSale: true })
    expect((await p.admin('GET', '/admin/packages')).total).toBe(1)
    expect((await p.admin('GET', `/admin/migrations/${p.id}/plan`)).packagesToMake).toEqual([
      { sourceId: '1', name: 'Old 8', servers: 1 },
    ])
  })

  test('a package whose disk is smaller than a disk there is not offered, and says so', async () => {
    using p = await imported({ packages: [pack('1', { diskGb: 40 })], servers: [server(1, { diskGb: 40 })] })
    expect((await row(p, 'packages', '1')).choice).toBeNull()
    const body = { packages: [{ sourceId: '1', choice: 'own', packageId: p.pack }] }
    expect(await refused(p, 'PATCH', path(p), body)).toEqual([409, 'choice_not_offered'])
    expect((await p.call(p.owner, 'PATCH', path(p), body)).body.error.message).toContain('No disk becomes smaller.')
  })

  test('a name that one of the own packages has is refused for one that is made', async () => {
    using p = await imported()
    const like = (changes: object) => ({ packages: [{ sourceId: '1', choice: 'like', changes }] })
    expect(await refused(p, 'PATCH', path(p), like({ name: 'KVM 2G' }))).toEqual([409, 'choice_not_offered'])
    await map(p, p.id, like({ name: 'Another' }))
  })

  test('the proposal is the same size, else the nearest larger one of the same memory, else nothing', async () => {
    using p = await open({
      packages: [
        pack('1'),
        pack('2', { vcpus: 1, diskGb: 10 }),
        pack('3', { memoryMb: 512 }),
        pack('4', { virtualization: 'container' }),
        pack('5'),
      ],
      servers: [
        server(1),
        server(2, { packageId: '2', vcpus: 1, diskGb: 10 }),
        server(3, { packageId: '3', memoryMb: 512 }),
        server(4, { packageId: '4', virtualization: 'container' }),
      ],
    })
    const id = await begin(p)
    await discovered(p, id)
    const found = await rows(Object.assign(p, { id }), 'packages')
    expect(found.map(({ choice, difference }: any) => [choice, difference])).toEqual([
      ['own', 'same size'],
      ['own', '10 GiB more disk and 1 vCPU more'],
      [null, null],
      ['leave_out', null],
      ['leave_out', null],
    ])
  })

  test('a package that is archived meanwhile waits for a decision again', async () => {
    using p = await imported()
    await p.admin('PATCH', `/admin/packages/${p.pack}`, { archived: true })
    await map(p, p.id, {})
    const read = await settled(p, p.id)
    expect(read.left.packages).toEqual({ rows: 1, servers: 2 })
    const { lines } = await p.admin('GET', `/admin/migrations/${p.id}/log`)
    expect(lines.at(-1).text).toContain('SSD-1 waits for a decision again.')
  })
})

describe('ranges', () => {
  test('Keep the addresses: a new pool for the range is added when its first server moves', async () => {
    using p = await imported()
    expect(offered(await row(p, 'ranges', '1'))).toEqual(['keep', 'new', 'leave_out'])
    await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'keep' }] })
    expect((await servers(p))[0].addresses).toEqual([{ address: '198.51.100.11', prefixLength: null, becomes: 'kept' }])
    expect((await p.admin('GET', `/admin/migrations/${p.id}/plan`)).poolsToMake).toEqual([
      { sourceId: '1', name: 'range-1', network: '198.51.100.0/24', servers: 2 },
    ])
    expect((await p.admin('GET', '/admin/ip-pools')).total).toBe(1)
  })

  test('Give copies new addresses: source IPv6 addresses are dropped.', async () => {
    using p = await imported({
      ranges: [
        range('1', '198.51.100.0/24'),
        range('2', '2001:db8:40::/48', { version: 6, first: null, last: null, gateway: 'fe80::1' }),
      ],
      servers: [server(1, { addresses: [v4('198.51.100.11'), v6('2001:db8:40:1::', 64)] })],
    })
    expect((await p.admin('GET', `/admin/migrations/${p.id}`)).left.ranges).toEqual({ rows: 2, servers: 1 })
    await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'new' }] })
    const [one] = await servers(p)
    expect(one.addresses.map(({ becomes }: any) => becomes)).toEqual(['replaced', 'dropped'])
    // Nothing has to be decided about addresses that are dropped.
    expect(one).toMatchObject({ undecided: 0, isComplete: true })
    expect((await p.admin('GET', `/admin/migrations/${p.id}/plan`)).locations).toMatchObject([
      { servers: 1, newIpv4: 1, freeIpv4: 20 },
    ])
  })

  test('Adopted servers always keep their addresses.', async () => {
    using p = await open()
    giveAddresses(p, p.node, ['192.0.2.11/24'])
    const id = await begin(p)
    await discovered(p, id)
    const q = Object.assign(p, { id })
    expect(await row(q, 'hypervisors', '1')).toMatchObject({ choice: 'adopt' })
    expect(withheld(await row(q, 'ranges', '1'), 'new')).toContain('adopted servers keep their addresses')
    expect(await refused(p, 'PATCH', path(q), { ranges: [{ sourceId: '1', choice: 'new' }] })).toEqual([
      409,
      'choice_not_offered',
    ])
    await map(p, id, { hypervisors: [{ sourceId: '1', choice: 'copy', locationId: p.location }] })
    await map(p, id, { ranges: [{ sourceId: '1', choice: 'new' }] })
    await map(p, id, { hypervisors: [{ sourceId: '1', choice: 'adopt' }] })
    expect((await servers(q))[0].addresses[0].becomes).toBe('kept')
  })

  test(
    'Part of your pool: offered only when the range falls inside one of the own pools; servers keep ' +
      'their addresses.',
    async () => {
      using p = await imported({
        ranges: [
          range('1', '203.0.113.0/24', { first: '203.0.113.12', last: '203.0.113.20' }),
          range('2', '203.0.113.0/24', { first: '203.0.113.12', last: '203.0.113.200' }),
          range('3', '198.51.100.0/24'),
        ],
        servers: [
          server(1, { addresses: [v4('203.0.113.12')] }),
          server(2, { addresses: [v4('203.0.113.100')] }),
          server(3),
        ],
      })
      const [inside, across, outside] = await rows(p, 'ranges')
      expect(inside).toMatchObject({ choice: 'pool', poolId: p.pool, isProposed: true })
      expect(offered(inside)).toEqual(['new', 'pool', 'leave_out'])
      expect(withheld(across, 'pool')).toBe('The range is in none of your pools.')
      expect(withheld(across, 'keep')).toContain('overlaps with your pool v4')
      expect(offered(outside)).toEqual(['keep', 'new', 'leave_out'])
      expect((await servers(p))[0].addresses[0].becomes).toBe('kept')
    },
  )

  test('Leave out of this import: servers with addresses in the range stay on the source.', async () => {
    using p = await imported({
      ranges: [range('1', '198.51.100.0/24'), range('2', '198.18.1.0/24')],
      servers: [server(1, { addresses: [v4('198.51.100.11'), v4('198.18.1.19')] }), server(2)],
    })
    await map(p, p.id, { ranges: [{ sourceId: '2', choice: 'leave_out' }] })
    expect((await servers(p)).map(({ state, leftOutBy }: any) => [state, leftOutBy])).toEqual([
      ['left_out', 'range'],
      ['waiting', null],
    ])
  })

  test('two ranges that overlap cannot both keep their addresses', async () => {
    using p = await imported({
      ranges: [
        range('1', '198.51.100.0/24'),
        range('2', '198.51.100.0/25', { first: '198.51.100.10', last: '198.51.100.20' }),
      ],
    })
    await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'keep' }] })
    expect(withheld(await row(p, 'ranges', '2'), 'keep')).toContain('range-1, which keeps its addresses')
  })

  test('a range that a pool is made for meanwhile waits for a decision again', async () => {
    using p = await imported()
    await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'keep' }] })
    await p.admin('POST', '/admin/ip-pools', {
      ...{ name: 'theirs', network: '198.51.100.0/24', gateway: '198.51.100.1' },
      ...{ first: '198.51.100.2', last: '198.51.100.254', nodeIds: [p.node.id] },
    })
    await map(p, p.id, {})
    expect((await settled(p, p.id)).left.ranges).toEqual({ rows: 1, servers: 2 })
    expect(offered(await row(p, 'ranges', '1'))).toContain('pool')
  })

  test('a server whose address something here has, or another server there, is marked and does not come', async () => {
    using p = await open()
    await p.admin('POST', '/admin/servers', p.order)
    await p.settle()
    p.other.listed.ranges = [
      range('1', '203.0.113.0/24', { first: '203.0.113.10', last: '203.0.113.20' }),
      range('2', '198.51.100.0/24'),
    ]
    const taken = '203.0.113.10'
    p.other.listed.servers = [
      server(1, { addresses: [v4(taken)] }),
      server(2, { addresses: [v4('203.0.113.15')] }),
      server(3, { addresses: [v4('198.51.100.77')] }),
      server(4, { addresses: [v4('198.51.100.77')] }),
    ]
    const id = await begin(p)
    await discovered(p, id)
    const q = Object.assign(p, { id })
    await map(p, id, { ranges: [{ sourceId: '2', choice: 'keep' }] })
    expect((await settled(p, id)).left.conflicts).toBe(3)
    expect((await servers(q)).map(({ reason, isComplete }: any) => [reason, isComplete])).toEqual([
      ['203.0.113.10 is in use here.', false],
      [null, true],
      ['198.51.100.77 belongs to server4.source.test too, in the other panel.', false],
      ['198.51.100.77 belongs to server3.source.test too, in the other panel.', false],
    ])
    await map(p, id, { ranges: [{ sourceId: '2', choice: 'new' }] })
    expect((await settled(p, id)).left.conflicts).toBe(1)
  })
})

describe('hypervisors', () => {
  test("which node group of the own platform receives each hypervisor's servers", async () => {
    using p = await open()
    const { id: oslo } = await p.admin('POST', '/admin/node-groups', { name: 'Oslo' })
    p.other.listed.hypervisors = [hypervisor('1'), hypervisor('2', { location: 'oslo' })]
    p.other.listed.servers = [server(1), server(2, { hypervisorId: '2' })]
    const id = await begin(p)
    await discovered(p, id)
    const q = Object.assign(p, { id })
    expect((await rows(q, 'hypervisors')).map(({ choice, goesTo }: any) => [choice, goesTo?.id ?? null])).toEqual([
      [null, null],
      ['copy', oslo],
    ])
    await map(p, id, { hypervisors: [{ sourceId: '1', choice: 'copy', locationId: p.location }] })
    expect((await servers(q)).map(({ way, goesTo }: any) => [way, goesTo.id])).toEqual([
      ['copy', p.location],
      ['copy', oslo],
    ])
  })

  test('Use Leave out of this import on every hypervisor except the one being moved', async () => {
    using p = await imported({
      hypervisors: [hypervisor('1'), hypervisor('2'), hypervisor('3')],
      servers: [server(1), server(2, { hypervisorId: '2' }), server(3, { hypervisorId: '3' })],
    })
    const rule = `${path(p)}/actions/apply-to-hypervisors`
    const body = { where: { exceptIds: ['2'] }, choice: 'leave_out' }
    expect(await p.admin('POST', `${rule}?dryRun=true`, body)).toMatchObject({ matched: 2, changed: 2 })
    expect((await servers(p)).map(({ state }: any) => state)).toEqual(['waiting', 'waiting', 'waiting'])
    await p.admin('POST', rule, body)
    expect((await servers(p)).map(({ state }: any) => state)).toEqual(['left_out', 'waiting', 'left_out'])
  })

  test('servers of which the panel does not say where they are can only be left out', async () => {
    using p = await imported({ servers: [server(1, { hypervisorId: null }), server(2)] })
    expect(offered(await row(p, 'hypervisors', 'unknown'))).toEqual(['leave_out'])
  })

  test('a location is needed for copies, and one that does not exist is refused', async () => {
    using p = await imported()
    for (const locationId of [undefined, `grp_${'0'.repeat(26)}`])
      expect(
        await refused(p, 'PATCH', path(p), { hypervisors: [{ sourceId: '1', choice: 'copy', locationId }] }),
      ).toEqual([422, 'validation_failed'])
  })
})

test('a single server is left out, and taken in again', async () => {
  using p = await imported()
  const [one] = await servers(p)
  await map(p, p.id, { servers: [{ id: one.id, isLeftOut: true }] })
  expect((await servers(p)).map(({ state, reason }: any) => [state, reason])).toEqual([
    ['left_out', 'Left out by you'],
    ['waiting', null],
  ])
  await map(p, p.id, { servers: [{ id: one.id, isLeftOut: false }] })
  expect((await servers(p))[0].state).toBe('waiting')
  const rule = `${path(p)}/actions/leave-out`
  expect(await p.admin('POST', rule, { where: { hypervisorId: '1' }, isLeftOut: true })).toEqual({ changed: 2 })
})

test('nothing is decided before the panel was read, and nothing after the migration has begun', async () => {
  using p = await open()
  const id = await begin(p)
  const body = { packages: [{ sourceId: '1', choice: 'leave_out' }] }
  expect(await refused(p, 'PATCH', path({ id }), body)).toEqual([409, 'import_not_discovered'])
  await discovered(p, id)
  for (const [status, code] of [
    ['discovering', 'import_busy'],
    ['checking', 'import_busy'],
    ['migrating', 'import_started'],
    ['verifying', 'import_started'],
    ['finished', 'import_ended'],
  ] as const) {
    p.db.$client.run('UPDATE imports SET status = ?', [status])
    expect(await refused(p, 'PATCH', path({ id }), body)).toEqual([409, code])
  }
  // A change after the dry run makes it out of date.
  p.db.$client.run("UPDATE imports SET status = 'ready'")
  await map(p, id, body)
  expect((await p.admin('GET', `/admin/migrations/${id}`)).status).toBe('mapping')
})

test(
  'the mapping is downloaded as a spreadsheet, edited, and sent back; lines that cannot be used ' + 'are named',
  async () => {
    using p = await imported()
    const csv = (await p.call(p.owner, 'GET', `${path(p)}.csv`)).body as string
    expect(csv).toContain('"packages","1","SSD-1","own"')
    const edited = `${csv
      .replace('"packages","1","SSD-1","own"', '"packages","1","SSD-1","leave_out"')
      .replace('"ranges","1","range-1",', '"ranges","1","range-1","keep"')}owners,411,,merge,\nranges,1,,mrge,\n`
    const upload = `${path(p)}/actions/upload`
    const told = await p.admin('POST', `${upload}?dryRun=true`, { csv: edited })
    expect(told).toMatchObject({ changed: 2, unusable: 2 })
    expect(told.faults.map(({ words }: any) => words)).toEqual([
      'owners 411 is not in this import',
      'unknown choice “mrge”',
    ])
    expect((await row(p, 'ranges', '1')).choice).toBeNull()
    await p.admin('POST', upload, { csv: edited })
    expect((await row(p, 'ranges', '1')).choice).toBe('keep')
    expect((await servers(p)).map(({ state }: any) => state)).toEqual(['left_out', 'left_out'])
    expect(await refused(p, 'POST', upload, { csv: 'nonsense' })).toEqual([422, 'validation_failed'])
    expect(await p.admin('POST', upload, { csv: (await p.call(p.owner, 'GET', `${path(p)}.csv`)).body })).toMatchObject(
      {
        changed: 0,
        unusable: 0,
      },
    )
  },
)

test('billing ids are chosen field by field', async () => {
  using p = await imported({ packages: [pack('1', { billingId: 'b-1' })] })
  const like = async () => {
    await map(p, p.id, { packages: [{ sourceId: '1', choice: 'like' }] })
    return (await row(p, 'packages', '1')).like.billingProductId
  }
  expect(await like()).toBe('b-1')
  await map(p, p.id, { billing: { billingProductId: 'source_id' } })
  expect(await like()).toBe('1')
  const { billing } = await map(p, p.id, { billing: { billingProductId: 'none', externalId: 'source_id' } })
  expect(billing).toEqual({ externalId: 'source_id', billingServiceId: 'billing_id', billingProductId: 'none' })
  expect(await like()).toBeNull()
})
