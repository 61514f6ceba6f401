// Every variant of the two panels that the facts name, read by the whole product: the same inventory each time, or
// words for what is missing.
import { describe, expect, test } from 'bun:test'
import { SolusPanel, type SolusVariants } from '../simulators/solusvm2.ts'
import { VirtualizorPanel, type VirtualizorVariants } from '../simulators/virtualizor.ts'
import { importOf, inventory, sizes } from './served.ts'

const noAdministrator =
  'The owner of the token is no administrator, so the panel may leave out hypervisors and servers.'
type Expected = { servers?: number; refused?: number; hypervisors?: number; ranges?: number; warnings?: string[] }

describe('SolusVM 2', () => {
  const variants: readonly (readonly [SolusVariants, Expected?])[] = [
    [{}],
    [{ servers: 0 }, { servers: 0 }],
    ...(['array', 'object', 'flat', 'none'] as const).map((ipv6) => [{ ipv6 }] as const),
    [{ cap: 1 }],
    [{ cap: 15 }],
    [{ ignoresPageSize: true }],
    [{ ignoresPageSize: true, host: 'https://elsewhere.example:8443' }],
    [{ tellsHypervisor: 'id' }],
    [{ tellsHypervisor: 'object' }],
    [{ shortRows: true }],
    [{ without: 'meta', cap: 15 }],
    [{ without: 'paging', cap: 15 }],
    [{ brackets: true }],
    // Each list has all servers, so nobody knows where one is: none is guessed.
    [{ ignoresFilter: true }, { refused: 17, hypervisors: 3 }],
    // Shorter lists, which the panel does not refuse.
    [{ isAdmin: false }, { servers: 2, refused: 2, hypervisors: 1, warnings: [noAdministrator] }],
  ]
  for (const [variant, { servers = 17, refused = 0, hypervisors = 2, warnings = [] } = {}] of variants)
    test(JSON.stringify(variant), async () => {
      const panel = new SolusPanel(variant)
      using p = await importOf(panel, 'solusvm2')
      expect(p.read).toMatchObject({ status: 'mapping', trouble: null, warnings, accountName: 'me@example.com' })
      expect(p.read.servers).toMatchObject({ total: servers, refused })
      expect(p.read.sent).toMatchObject({ requests: panel.requests.length, refused: 0 })
      const all = await inventory(p, p.id)
      expect(sizes(all)).toMatchObject({ hypervisors, packages: 2, owners: 3, servers })
      expect(panel.violations).toEqual([])
      expect(new Set(panel.requests.map(({ method }) => method))).toEqual(new Set(['GET']))
      const [first] = all.servers
      if (!first) return
      expect(first).toMatchObject({ hostname: 'server-1.example.com', os: 'AlmaLinux 9', memoryMb: 2048, diskGb: 25 })
      // An address each, in whatever form it stands there.
      expect(all.servers.every(({ addresses }) => addresses.some((one: any) => one.address.startsWith('198.5')))).toBe(
        true,
      )
    })

  test('servers that cannot come are refused with the sentence for each', async () => {
    const panel = new SolusPanel({ servers: 9, hypervisors: 1 })
    const named = (name: string, icon = '') => ({ settings: { os_image: { name, icon } } })
    panel.change(1, { virtualization_type: 'vz' })
    panel.change(2, { os_type: 'Windows' })
    panel.change(3, named('Windows Server 2022'))
    panel.change(4, named('Datacenter', 'https://x/windows.png'))
    panel.change(5, { virtualization_type: 'xen' })
    panel.change(6, { uuid: 'no-uuid' })
    panel.change(7, { _place: 9 })
    panel.change(8, { status: 'stopped', real_status: 'stopped' })
    panel.change(9, { plan: { id: 99, name: 'Custom' }, status: 'not exist', real_status: 'not exist' })
    using p = await importOf(panel, 'solusvm2')
    const { servers, packages } = await inventory(p, p.id)
    expect(servers.map(({ sourceId, refusal, power }) => [sourceId, refusal, power])).toEqual([
      ['1', 'container', 'running'],
      ['2', 'windows', 'running'],
      ['3', 'windows', 'running'],
      ['4', 'windows', 'running'],
      ['5', 'not_kvm', 'running'],
      ['6', 'no_domain', 'running'],
      ['7', 'no_hypervisor', 'running'],
      ['8', null, 'stopped'],
      ['9', null, 'unknown'],
    ])
    expect(packages.some(({ name }) => name === 'Custom')).toBe(true)
    expect(p.read.servers).toMatchObject({ refused: 7, waiting: 2 })
  })

  test('a hypervisor has the addresses of its name, and those that the panel lists for it', async () => {
    const panel = new SolusPanel({ hypervisors: 3 })
    panel.hypervisors[2]!['host'] = 'gone.panel.test'
    using p = await importOf(panel, 'solusvm2')
    const { hypervisors } = await inventory(p, p.id)
    expect(hypervisors.map(({ address, addresses }) => [address, addresses])).toEqual([
      ['192.0.2.11', ['192.0.2.11', '10.0.0.1']],
      ['kvm-2.panel.test', ['192.0.2.12', '10.0.0.2']],
      ['gone.panel.test', ['192.0.2.13', '10.0.0.3']],
    ])
  })
})

describe('Virtualizor', () => {
  const errors = [undefined, [], {}, '', null, false, 0]
  const variants: readonly (readonly [VirtualizorVariants, Expected?])[] = [
    [{}],
    [{ servers: 0 }, { servers: 0 }],
    ...(['pair-only', 'needs-apikey', 'hash-only'] as const).map((auth) => [{ auth }] as const),
    [{ ips: 'array' }],
    [{ data: 'serialized' }],
    [{ preferences: 'serialized' }],
    [{ preferences: 'object' }],
    [{ arrays: true }],
    ...errors.map((error) => [{ error }] as const),
    [{ cap: 3 }],
    [{ cap: 1 }],
    [{ counts: 'none' }],
    [{ counts: 'wrong' }],
    ...['localhost', '127.0.0.1', '127.8.9.1', '::1', ''].map((masterIp) => [{ masterIp }] as const),
    [{ states: 'number' }],
    [{ only: 'servs' }],
    [{ only: 'servers' }],
    [
      { isSlave: true },
      {
        // Those of the master are on no hypervisor that a slave lists.
        ...{ refused: 3, hypervisors: 2 },
        warnings: [
          'The panel does not list its own host. Enter the address of the master: only there all servers are listed.',
        ],
      },
    ],
    [{ forbidden: ['ipranges'] }, { warnings: expect.arrayContaining([expect.stringMatching(/^The .*\.$/)]) as never }],
  ]
  for (const [variant, { servers = 7, refused = 0, hypervisors = 2, warnings = [] } = {}] of variants)
    test(JSON.stringify(variant), async () => {
      const panel = new VirtualizorPanel(variant)
      using p = await importOf(panel, 'virtualizor')
      expect(p.read).toMatchObject({ status: 'mapping', trouble: null, warnings, accountName: null })
      expect(p.read.servers).toMatchObject({ total: servers, refused })
      expect(p.read.sent).toMatchObject({ requests: panel.requests.length })
      const all = await inventory(p, p.id)
      expect(sizes(all)).toMatchObject({ hypervisors, packages: 2, owners: 4, servers })
      expect(panel.violations).toEqual([])
      const [first] = all.servers
      if (!first) return
      // The domain is the name, never a number made from the id.
      expect(first).toMatchObject({ sourceId: '1001', domain: 'v1', os: 'AlmaLinux 9', memoryMb: 2048, diskGb: 25 })
      expect(first.addresses.map(({ address }: any) => address)).toContain('198.51.0.1')
      const master = all.hypervisors.find(({ sourceId }) => sourceId === '0')
      if (master) expect(master).toMatchObject({ isPanel: true, addresses: ['192.0.2.10'] })
    })

  test('servers that cannot come are refused with the sentence for each', async () => {
    const panel = new VirtualizorPanel({ servers: 12 })
    const kinds = ['openvz', 'vzo', 'proxo', 'lxc', 'proxl', 'xen', 'xenhvm', 'xcp', 'vzk']
    for (const [i, virt] of kinds.entries()) panel.change(i + 1, { virt })
    panel.change(10, { os_distro: 'windows', os_name: 'own' })
    panel.change(11, { os_name: 'windows-2022-x86_64' })
    panel.change(12, { vps_name: '' })
    using p = await importOf(panel, 'virtualizor')
    const { servers } = await inventory(p, p.id)
    expect(servers.map(({ refusal }) => refusal)).toEqual([
      ...Array(5).fill('container'),
      ...Array(4).fill('not_kvm'),
      'windows',
      'windows',
      'no_domain',
    ])
    expect(servers[0].reason).toBe('OpenVZ or LXC container (stays on source, containers cannot run on KVM)')
    expect(servers[9].reason).toBe('Windows guest (stays on source, not supported by imports)')
  })

  test('a list that the key pair may not read is named, and nothing is believed without it', async () => {
    for (const act of ['servers', 'plans', 'ippool', 'ips', 'users', 'vs']) {
      using p = await importOf(new VirtualizorPanel({ forbidden: [act] }), 'virtualizor')
      expect([act, p.read.status, p.read.trouble?.code, p.read.servers.total]).toEqual([
        act,
        'draft',
        'missing_rights',
        0,
      ])
      expect(p.read.trouble.message).toMatch(/^The credentials may not read the \S.* of the panel\.$/)
    }
  })
})
