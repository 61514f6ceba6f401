import { describe, expect, test } from 'bun:test'
import { all, everything, failureOf, virtualizorReader } from '../simulators/reading.ts'
import { VirtualizorPanel, type VirtualizorVariants } from '../simulators/virtualizor.ts'

const serversOf = async (panel: VirtualizorPanel) => {
  const reader = virtualizorReader(panel)
  return all(reader.servers(await all(reader.hypervisors())))
}
const only = async (fields: Record<string, unknown>, variants: VirtualizorVariants = {}) => {
  const panel = new VirtualizorPanel({ servers: 1, ...variants })
  panel.change(1, fields)
  return (await serversOf(panel))[0]!
}
const acts = (panel: VirtualizorPanel, act: string) =>
  panel.requests.filter(({ query }) => query.get('act') === act && !query.has('vs_status')).length

describe('Virtualizor is read', () => {
  test('with the records of everything that an import needs', async () => {
    const found = await everything(virtualizorReader(new VirtualizorPanel({ servers: 2 })))
    expect(found.warnings).toEqual([])
    expect(found.servers).toMatchObject([
      {
        id: '1001',
        domain: 'v1',
        uuid: 'k3v9p2q8r7s61',
        hypervisorId: '2',
        ownerId: '12',
        ownerEmail: 'owner@example.com',
        packageId: '4',
        packageName: 'KVM 2',
        vcpus: 2,
        memoryMb: 2048,
        diskGb: 25,
        mac: '02:00:5e:10:00:01',
        osName: 'AlmaLinux 9',
        createdAt: 1_700_000_000_000,
      },
      { id: '1002', domain: 'v2', hypervisorId: '0', state: 'running' },
    ])
    expect(found.servers[0]!.addresses).toEqual([
      { address: '198.51.0.1', version: 4, rangeId: '9', prefixLength: null, isPrimary: true },
      { address: '2001:db8:20::1', version: 6, rangeId: '10', prefixLength: null, isPrimary: false },
      { address: '2001:db8:21::', version: 6, rangeId: '10', prefixLength: 64, isPrimary: false },
    ])
    expect(found.packages).toMatchObject([
      { id: '4', swapMb: 512, trafficBytes: 2e12, speed: { inMbps: 100, outMbps: 100 }, ipv4: 1 },
      { id: '5', virtualization: 'container', trafficBytes: null, speed: { inMbps: null, outMbps: null } },
    ])
    expect(found.ranges).toMatchObject([
      { id: '9', first: '198.51.0.1', last: '198.51.255.201', network: '198.51.0.0/16', reach: 'public' },
      { id: '10', version: 6, first: '2001:db8:20::1', last: '2001:db8:21:0:ffff:ffff:ffff:ffff', prefixLength: 64 },
      { id: '11', first: '10.99.0.0', last: '10.99.0.255', reach: 'internal' },
      { id: '12', first: '203.0.113.0', last: '203.0.113.127', reach: 'nat' },
    ])
    expect(found.owners.map(({ kind, parentId, isSuspended, name }) => [kind, parentId, isSuspended, name])).toEqual([
      ['customer', null, false, 'Ada Byron'],
      ['staff', null, false, 'Ada Byron'],
      ['reseller', null, false, 'Ada Byron'],
      ['customer', '14', true, 'Ada Byron'],
    ])
    expect(found.addresses.filter(({ isHeldBack }) => isHeldBack)).toMatchObject([{ address: '198.51.255.201' }])
  })
  test('the same in each form that its versions give', async () => {
    // Objects by number have an order of their own, which means nothing.
    const read = async (variants: VirtualizorVariants) => {
      const { addresses, ...found } = await everything(virtualizorReader(new VirtualizorPanel(variants)))
      return { ...found, addresses: addresses.toSorted((a, b) => (a.address < b.address ? -1 : 1)) }
    }
    const usual = await read({})
    for (const variants of [
      { arrays: true },
      { data: 'serialized' },
      { preferences: 'object' },
      { states: 'number' },
      { only: 'servs' },
      { only: 'servers' },
      { counts: 'none' },
      { auth: 'needs-apikey' },
      { auth: 'hash-only' },
      { error: undefined },
      { error: {} },
      { error: '' },
      { error: null },
      { error: false },
      { ips: 'array' },
      { cap: 3 },
    ] satisfies VirtualizorVariants[]) {
      const found = await read(variants)
      if ('counts' in variants) for (const one of found.hypervisors) expect(one.servers).toBe(null)
      const counted = usual.hypervisors.map(({ servers }) => servers)
      const hypervisors = found.hypervisors.map((one, i) => ({ ...one, servers: counted[i]! }))
      expect<unknown>([variants, { ...found, hypervisors }]).toEqual([variants, usual])
    }
  })
  test('with the address of the panel for its own host, however that is listed', async () => {
    for (const masterIp of ['127.0.0.1', 'localhost', '::1', '127.1.2.3', '']) {
      const [master, slave] = await all(virtualizorReader(new VirtualizorPanel({ masterIp })).hypervisors())
      expect([masterIp, master!.addresses, master!.isPanel]).toEqual([masterIp, ['192.0.2.10'], true])
      expect([slave!.addresses, slave!.isPanel]).toEqual([['192.0.2.32', '10.0.0.32'], false])
    }
    const [master] = await all(virtualizorReader(new VirtualizorPanel({ masterIp: '192.0.2.99' })).hypervisors())
    expect(master).toMatchObject({ addresses: ['192.0.2.99'], isPanel: true })
  })
  // “Always connect to the source panel itself (the master or the panel), which is the only place with an API.”
  test('with a warning where the panel is not the master', async () => {
    const { warnings } = await virtualizorReader(new VirtualizorPanel({ isSlave: true })).account()
    expect(warnings).toEqual([
      'The panel does not list its own host. Enter the address of the master: only there all servers are listed.',
    ])
  })
  test('without another host that is listed as localhost', async () => {
    const panel = new VirtualizorPanel()
    panel.hypervisors[1] = { ...panel.hypervisors[1], ip: '127.0.0.1', internal_ip: 'localhost' }
    expect((await all(virtualizorReader(panel).hypervisors()))[1]).toMatchObject({ addresses: [], isPanel: false })
  })
  test('with the kinds of virtualization that say what can be imported', async () => {
    for (const [written, kind] of [
      ['kvm', 'kvm'],
      ...['openvz', 'vzo', 'proxo', 'lxc', 'proxl'].map((one) => [one, 'container']),
      ...['xen', 'xenhvm', 'xcp', 'xcphvm', 'vzk', 'proxk'].map((one) => [one, 'other']),
      ['', 'unknown'],
    ])
      expect([written, (await only({ virt: written })).virtualization]).toEqual([written, kind as never])
  })
  test('with Windows by each of its hints', async () => {
    for (const fields of [
      { os_distro: 'windows' },
      { os_name: 'windows-2022-x86_64' },
      { os_name: 'win-2019' },
      { os_name: 'win2019' },
      { os_name: 'base', osid: '900' },
      { os_name: '', osid: '0', os_distro: '', rdp: '1' },
    ])
      expect([fields, (await only(fields)).isWindows]).toEqual([fields, true])
    for (const fields of [{ rdp: '1' }, { os_name: 'darwin-20' }, { os_name: '', os_distro: '', osid: '0' }])
      expect([fields, (await only(fields)).isWindows]).toEqual([fields, false])
  })
  test('without what a server does not have', async () => {
    expect(
      await only({ plid: '0', uid: '0', email: '', os_name: '', osid: '0', serid: '77', mac: '', nw_suspended: '1' }),
    ).toMatchObject({
      packageId: null,
      packageName: null,
      ownerId: null,
      ownerEmail: null,
      osName: null,
      hypervisorId: null,
      mac: null,
      isSuspended: true,
    })
  })
  test('never with a domain that was made up from the id', async () => {
    for (const vps_name of [undefined, null, '', '../v1', '-v1', 'v 1', { a: 1 }])
      expect([vps_name, (await only({ vps_name })).domain]).toEqual([vps_name, null])
  })
  test('with states that are known, or "unknown"', async () => {
    const states = Object.fromEntries((await serversOf(new VirtualizorPanel())).map(({ id, state }) => [id, state]))
    expect(states).toMatchObject({ '1001': 'unknown', '1002': 'running', '1005': 'stopped' })
  })
  test('without prefixes and states where the key pair may not read them, with a warning', async () => {
    const found = await everything(virtualizorReader(new VirtualizorPanel({ forbidden: ['ipranges'] })))
    expect(found.warnings).toEqual(['The panel does not list its IPv6 prefixes, so servers may lack one.'])
    expect(found.servers.length).toBe(7)
    const panel = new VirtualizorPanel()
    panel.fault = ({ query }, answer) => (query.has('vs_status') ? { status: 500, headers: {}, body: '' } : answer())
    const without = await everything(virtualizorReader(panel))
    expect(without.warnings).toEqual(['The panel does not tell which servers run.'])
    expect(without.servers.map(({ state }) => state)).toEqual(Array(7).fill('unknown'))
  })
  test('never at all where the key pair may not read a list that is needed', async () => {
    for (const [act, things] of [
      ['servers', 'hypervisors'],
      ['plans', 'packages'],
      ['ips', 'addresses'],
      ['ippool', 'ranges'],
      ['users', 'owners'],
      ['vs', 'servers'],
    ] as const) {
      const panel = new VirtualizorPanel({ forbidden: [act] })
      const failure = await failureOf(() => everything(virtualizorReader(panel)))
      expect([act, failure.code, failure.message]).toEqual([
        act,
        'missing_rights',
        `The credentials may not read the ${things} of the panel.`,
      ])
    }
  })
})

describe('A refused sign-in of Virtualizor', () => {
  const words =
    'The panel did not accept the key pair. Check key and pass, that the pair allows calls from the address of this ' +
    'controller, and that the port is the admin port (normally 4085).'
  test('says all its causes, whether it is a redirect or a page', async () => {
    for (const refuses of ['redirect', 'html'] as const) {
      const panel = new VirtualizorPanel({ refuses, callerIsAllowed: false })
      const failure = await failureOf(() => virtualizorReader(panel).account())
      expect([failure.code, failure.message]).toEqual(['refused_sign_in', words])
      expect(panel.requests.length).toBe(1)
    }
  })
  test('is told from other refusals in each form of the field for errors', async () => {
    const authentication = 'Authentication failed, API call stopped'
    for (const [error, code] of [
      [authentication, 'refused_sign_in'],
      [[authentication], 'refused_sign_in'],
      [{ a: authentication }, 'refused_sign_in'],
      [[{ code: 1, msg: authentication }], 'refused_sign_in'],
      ['You are not allowed to access this page', 'missing_rights'],
      [{ x: 'Something else' }, 'refused'],
      [[{ code: 7 }], 'refused'],
      [true, 'refused'],
    ] as const) {
      const panel = new VirtualizorPanel({ error })
      expect([error, (await failureOf(() => virtualizorReader(panel).account())).code]).toEqual([error, code] as never)
    }
  })
})

describe('The pages of Virtualizor', () => {
  test('end with one that adds nothing, also where each is the same', async () => {
    const panel = new VirtualizorPanel({ servers: 1200 })
    expect((await serversOf(panel)).length).toBe(1200)
    // Three pages and an empty one; the counts of the hypervisors say that this is all.
    expect(acts(panel, 'vs')).toBe(4)
    expect((await all(virtualizorReader(panel).packages())).length).toBe(2)
    expect(acts(panel, 'plans')).toBe(2)
  })
  test('are read again where nobody counts the servers, or counts others', async () => {
    for (const counts of ['none', 'wrong'] as const) {
      const panel = new VirtualizorPanel({ servers: 1200, counts })
      expect((await serversOf(panel)).length).toBe(1200)
      expect(acts(panel, 'vs')).toBe(8)
    }
  })
  test('are read again where a server went meanwhile, so that none is missed', async () => {
    const panel = new VirtualizorPanel({ servers: 1200 })
    let isGone = false
    panel.fault = ({ query }, answer) => {
      const given = answer()
      if (query.get('act') === 'vs' && query.get('page') === '1' && !isGone) {
        isGone = true
        panel.servers.splice(3, 1)
      }
      return given
    }
    const found = await serversOf(panel)
    expect(new Set(found.map(({ id }) => id)).size).toBe(1199)
    expect(found.some(({ id }) => id === '1501')).toBe(true)
  })
  test('end with a failure where they never stand still', async () => {
    const panel = new VirtualizorPanel({ servers: 1200 })
    panel.fault = ({ query }, answer) => {
      const given = answer()
      if (query.get('act') === 'vs' && query.get('page') === '1') panel.servers.splice(3, 1)
      return given
    }
    expect((await failureOf(() => serversOf(panel))).code).toBe('changed_while_reading')
  })
})
