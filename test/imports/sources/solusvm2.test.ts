import { describe, expect, test } from 'bun:test'
import { all, everything, failureOf, solusReader } from '../simulators/reading.ts'
import { SolusPanel, type SolusVariants, uuidOf } from '../simulators/solusvm2.ts'

const serversOf = async (panel: SolusPanel) => {
  const reader = solusReader(panel)
  return all(reader.servers(await all(reader.hypervisors())))
}
const only = async (fields: Record<string, unknown>, variants: SolusVariants = {}) => {
  const panel = new SolusPanel({ servers: 1, ...variants })
  panel.change(1, fields)
  return (await serversOf(panel))[0]!
}

describe('SolusVM 2 is read', () => {
  test('with the records of everything that an import needs', async () => {
    const found = await everything(solusReader(new SolusPanel({ servers: 2 })))
    expect(found.account).toEqual({ name: 'me@example.com', warnings: [] })
    expect(found.warnings).toEqual([])
    expect(found.servers).toMatchObject([
      {
        id: '1',
        uuid: uuidOf(1),
        domain: uuidOf(1),
        name: 'server-1.example.com',
        hypervisorId: '1',
        ownerId: '12',
        ownerEmail: 'owner@example.com',
        packageId: '7',
        virtualization: 'kvm',
        vcpus: 2,
        memoryMb: 2048,
        diskGb: 25,
        osName: 'AlmaLinux 9',
        isWindows: false,
        state: 'running',
        billingId: '1',
        createdAt: Date.parse('2024-05-01T10:00:00Z'),
      },
      { id: '2', hypervisorId: '2' },
    ])
    expect(found.packages[0]).toMatchObject({
      name: 'KVM 2',
      memoryMb: 2048,
      diskGb: 25,
      swapMb: 512,
      trafficBytes: 2 * 1024 ** 4,
      trafficCounts: 'out',
      speed: { inMbps: 1000, outMbps: 2000 },
    })
    expect(found.packages[1]).toMatchObject({ virtualization: 'container' })
    expect(found.ranges).toMatchObject([
      { id: '5', version: 4, first: '198.51.100.10', last: '198.51.100.250', network: '198.51.100.0/24', isSet: false },
      {
        id: '6',
        version: 6,
        first: '2001:db8:20::',
        network: '2001:db8:20::/48',
        prefixLength: 64,
        gateway: 'fe80::1',
      },
      { id: '7', version: 4, first: null, last: null, isSet: true },
    ])
    expect(found.owners.map(({ kind, isSuspended, billingId }) => [kind, isSuspended, billingId])).toEqual([
      ['customer', false, '12'],
      ['staff', false, '13'],
      ['customer', true, '4711'],
    ])
    expect(found.addresses.filter(({ isHeldBack }) => isHeldBack).map(({ address }) => address)).toEqual([
      '198.51.100.21',
    ])
  })
  test('with all addresses of its hypervisors, whose names are resolved', async () => {
    const found = await all(solusReader(new SolusPanel()).hypervisors())
    expect(found.map(({ addresses, network }) => [addresses, network])).toEqual([
      [['192.0.2.11', '10.0.0.1'], 'bridged'],
      [['192.0.2.12', '10.0.0.2'], 'routed'],
    ])
  })
  test('with the addresses of a server in each form that versions give them', async () => {
    for (const [ipv6, expected] of [
      ['array', ['198.51.0.1', '2001:db8:20:1::1/64']],
      ['object', ['198.51.0.1', '2001:db8:20:1::1']],
      ['flat', ['198.51.0.1', '2001:db8:20:1::1']],
      ['none', ['198.51.0.1']],
    ] as const) {
      const { addresses } = await only({}, { ipv6 })
      const written = addresses.map(({ address, prefixLength }) => address + (prefixLength ? `/${prefixLength}` : ''))
      expect([ipv6, written]).toEqual([ipv6, [...expected]])
    }
  })
  test('with a state that is known, or with "unknown"', async () => {
    for (const [status, state] of [
      ['started', 'running'],
      ['running', 'running'],
      ['stopped', 'stopped'],
      ['not exist', 'unknown'],
      ['not exists', 'unknown'],
      ['paused', 'unknown'],
      ['unavailable', 'unknown'],
      ['constructor', 'unknown'],
      [null, 'unknown'],
    ])
      expect([status, (await only({ status })).state]).toEqual([status, state])
    const busy = { status: 'processing', is_processing: true }
    expect((await only({ ...busy, real_status: 'stopped' })).state).toBe('stopped')
  })
  test('with Windows by each of its hints', async () => {
    const named = (name: string, icon = '') => ({ settings: { os_image: { name, icon } } })
    for (const fields of [
      { os_type: 'Windows' },
      named('Windows Server 2022'),
      named('Own', 'https://x/icons/windows.png'),
      { settings: { os_image: { name: 'Own', cloud_init_version: 'cloudbase' } } },
      named('Datacenter 2022'),
      named('Datacenter'),
      named('Mixed B'),
    ])
      expect([fields, (await only(fields)).isWindows]).toEqual([fields, true])
    for (const fields of [named('AlmaLinux 9'), named('Mixed A'), named('Mixed'), { os_type: null, settings: null }])
      expect([fields, (await only(fields)).isWindows]).toEqual([fields, false])
  })
  test('with its hypervisor where the row of a server tells it, without a list for each', async () => {
    for (const tellsHypervisor of ['id', 'object'] as const) {
      const panel = new SolusPanel({ tellsHypervisor })
      expect((await serversOf(panel)).map(({ hypervisorId }) => hypervisorId).slice(0, 3)).toEqual(['1', '2', '1'])
      expect(panel.requests.filter(({ query }) => query.has('filter[compute_resource_id]'))).toEqual([])
    }
  })
  test('without a hypervisor for a server that no list has, or that more than one has', async () => {
    const panel = new SolusPanel({ servers: 2 })
    panel.change(2, { _place: 9 })
    expect((await serversOf(panel)).map(({ hypervisorId }) => hypervisorId)).toEqual(['1', null])
    const ignoring = await serversOf(new SolusPanel({ servers: 2, ignoresFilter: true }))
    expect(ignoring.map(({ hypervisorId }) => hypervisorId)).toEqual([null, null])
  })
  test('server by server where its list has short rows', async () => {
    const panel = new SolusPanel({ servers: 3, shortRows: true })
    expect(await serversOf(panel)).toEqual(await serversOf(new SolusPanel({ servers: 3 })))
    expect(panel.requests.filter(({ path }) => /servers\/\d+$/.test(path))).toHaveLength(3)
  })
  test('with a package that its list does not have, and a server without one', async () => {
    expect(await only({ plan: { id: 99, name: 'Custom' } })).toMatchObject({ packageId: '99', packageName: 'Custom' })
    expect(await only({ plan: null })).toMatchObject({ packageId: null, packageName: null, memoryMb: 2048 })
  })
  test('with ranges whose lists are spelled with brackets', async () => {
    expect((await all(solusReader(new SolusPanel({ brackets: true })).ranges()))[0]!.hypervisorIds).toEqual(['1'])
  })
  test('with a warning where the owner of the token is no administrator', async () => {
    const reader = solusReader(new SolusPanel({ isAdmin: false }))
    expect((await reader.account()).warnings).toEqual([
      'The owner of the token is no administrator, so the panel may leave out hypervisors and servers.',
    ])
  })
  test('with the disks of a server, for which the definition of the domain decides', async () => {
    expect(await solusReader(new SolusPanel()).disks('3')).toEqual([
      { path: '/var/lib/libvirt/images/3/0', sizeGb: 25, isPrimary: true },
    ])
  })
  test('without a domain where its UUID is none, and with 0, text and null where a number may be', async () => {
    const server = await only({
      uuid: 'v1001',
      specifications: { disk: '25', ram: '2147483648', vcpu: null },
      user: { id: '12', email: '' },
      is_suspended: '1',
      boot_mode: 'rescue',
    })
    expect(server).toMatchObject({ domain: null, diskGb: 25, memoryMb: 2048, vcpus: null, ownerEmail: null })
    expect(server).toMatchObject({ ownerId: '12', isSuspended: true, isInRescue: true })
  })
  test('as kinds of virtualization that say what can be imported', async () => {
    for (const [written, kind] of [
      ['kvm', 'kvm'],
      ['vz', 'container'],
      ['xen', 'other'],
      [null, 'unknown'],
    ])
      expect((await only({ virtualization_type: written })).virtualization).toBe(kind as never)
  })
})

describe('The pages of SolusVM 2', () => {
  const count = async (panel: SolusPanel) => (await serversOf(panel)).length
  const pagesOf = (panel: SolusPanel) =>
    panel.requests.filter(({ path, query }) => path.endsWith('/servers') && !query.has('filter[compute_resource_id]'))

  test('are read to their end, whatever size they have', async () => {
    for (const variants of [{}, { ignoresPageSize: true }, { cap: 1 }, { cap: 16 }, { cap: 17 }, { cap: 18 }])
      expect([variants, await count(new SolusPanel({ servers: 17, ...variants }))]).toEqual([variants, 17])
  })
  test('are asked for at the panel’s own address, wherever the link to the next one leads', async () => {
    const panel = new SolusPanel({ ignoresPageSize: true, host: 'https://attacker.example' })
    expect(await count(panel)).toBe(17)
    expect(pagesOf(panel).map(({ query }) => query.get('page'))).toEqual(['1', '2'])
  })
  test('may lack their counts, or their links too', async () => {
    for (const without of ['meta', 'paging'] as const) {
      const panel = new SolusPanel({ servers: 40, cap: 15, without })
      expect(await count(panel)).toBe(40)
      // There is no count, so the list is read until two readings agree.
      expect(pagesOf(panel).length).toBe(without === 'meta' ? 6 : 8)
    }
  })
  test('end where each repeats the one before, with a failure that says that the list is not whole', async () => {
    const panel = new SolusPanel({ servers: 40, cap: 15 })
    panel.fault = ({ query }, answer) => {
      query.set('page', '1')
      return answer()
    }
    expect((await failureOf(() => all(solusReader(panel).servers([])))).code).toBe('broken_pager')
  })
  test('end where the panel counts more servers than it gives', async () => {
    const panel = new SolusPanel({ servers: 17 })
    panel.fault = ({ path }, answer) => {
      const given = answer()
      return path.endsWith('/servers') ? { ...given, body: given.body.replace('"total":17', '"total":18') } : given
    }
    expect((await failureOf(() => all(solusReader(panel).servers([])))).message).toBe(
      'The panel does not give all its servers: its pages do not add up to its own count.',
    )
  })
  test('end where the panel never stops giving new servers', async () => {
    const panel = new SolusPanel({ servers: 1 })
    panel.fault = ({ path, query }, answer) => {
      const given = answer()
      if (!path.endsWith('/servers')) return given
      const page = Number(query.get('page'))
      const body = JSON.parse(given.body)
      return {
        ...given,
        body: JSON.stringify({ data: [{ ...panel.servers[0], id: page }], links: { next: 'x' }, meta: body.nothing }),
      }
    }
    expect((await failureOf(() => all(solusReader(panel).servers([])))).code).toBe('broken_pager')
    expect(panel.requests.length).toBeLessThan(5010)
  })
  test('are read again where servers came or went meanwhile, until a reading is whole', async () => {
    const panel = new SolusPanel({ servers: 40, cap: 15, hypervisors: 1 })
    let isGone = false
    panel.fault = ({ path, query }, answer) => {
      const given = answer()
      if (path.endsWith('/servers') && query.get('page') === '1' && !isGone) {
        isGone = true
        panel.servers.splice(3, 1)
      }
      return given
    }
    const found = await serversOf(panel)
    expect(found.length).toBe(39)
    expect(new Set(found.map(({ id }) => id)).size).toBe(39)
    expect(found.some(({ id }) => id === '4')).toBe(false)
  })
  test('end with a failure where the servers never stand still', async () => {
    const panel = new SolusPanel({ servers: 40, cap: 15, hypervisors: 1 })
    let next = 1000
    panel.fault = ({ path, query }, answer) => {
      const given = answer()
      if (path.endsWith('/servers') && query.get('page') === '1') {
        panel.servers.splice(3, 1)
        panel.servers.push({ ...panel.servers[0], id: next++ }, { ...panel.servers[0], id: next++ })
      }
      return given
    }
    expect((await failureOf(() => serversOf(panel))).code).toBe('changed_while_reading')
  })
})
