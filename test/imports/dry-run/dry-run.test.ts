// Points 5, 7, 8, 10, 11 and 18 of Imports: what a dry run checks, and what it says.
import { describe, expect, test } from 'bun:test'
import type { FakeSourceServer } from '../../../agent/drivers/source-host/fake.ts'
import type { SourceDrive } from '../../../agent/protocol/values/source-hosts.ts'
import { owner, pack, server } from '../panel-in-memory.ts'
import { discovered, giveAddresses, map, refused, row, settled } from '../world.ts'
import { decide, decided, dryRun, GIB, KVM_1, results, shown, totals, wordsOf } from './world.ts'

const drive = (values: Partial<SourceDrive> = {}): SourceDrive => ({
  ...{ target: 'vda', device: 'disk', bus: 'virtio', holder: 'file', path: '/var/lib/libvirt/images/1/0' },
  ...{ format: 'qcow2', isReadOnly: false, isSeed: false, virtualBytes: 20 * GIB, allocatedBytes: 5 * GIB },
  ...{ pool: null, backing: null, snapshots: 0, trouble: null, ...values },
})
const withDrives = (...drives: SourceDrive[]): FakeSourceServer => ({
  definition: { drives, driveCount: drives.length },
})
/** The first server is described so, the second is usual. */
const first = (described: FakeSourceServer | null) => decided({}, { servers: { v1: described } })

test('the dry run shows the node per server, what is copied and how long each is away', async () => {
  using p = await decided()
  expect(await dryRun(p)).toMatchObject({ status: 'ready', servers: { ready: 2 } })
  expect(await results(p)).toEqual([['ready'], ['ready']])
  const [one] = await shown(p)
  expect(one!.check).toMatchObject({
    node: { id: p.node.id },
    pool: 'local',
    isRunning: true,
    disk: { format: 'qcow2', bytes: 20 * GIB, usedBytes: 5 * GIB },
    mac: '02:00:5e:00:00:00',
  })
  // It is copied while it runs, so it is off for the last changes alone.
  expect(one!.check['method']).toBe('short_stop')
  expect(one!.check['awaySeconds']).toBeLessThan(one!.check['copySeconds'])
  expect(await totals(p)).toMatchObject({
    isRunning: false,
    isOutdated: false,
    servers: { total: 2, ready: 2, unchecked: 0 },
    usedBytes: 10 * GIB,
    nodes: [{ id: p.node.id, servers: 2 }],
    hypervisors: [{ id: '1', servers: 2, isMeasured: true }],
  })
  const csv = (await p.call(p.owner, 'GET', `/admin/migrations/${p.id}/dry-run.csv`)).body
  expect(csv.trim().split('\n')).toHaveLength(3)
  expect(csv).toContain('"server1.source.test","v1","1","ready"')
})

describe('every server is checked from the node that will do the work', () => {
  test('SSH login works', async () => {
    using p = await decided({}, { lets: 'known' })
    expect((await dryRun(p)).status).toBe('mapping')
    expect(await results(p)).toEqual([
      ['to_fix', 'no_login'],
      ['to_fix', 'no_login'],
    ])
    p.sources.describe(KVM_1, { lets: 'everyone' })
    expect((await dryRun(p)).status).toBe('ready')
    expect(await results(p)).toEqual([['ready'], ['ready']])
  })

  test('a hypervisor that does not let a node in is tried once, whatever the number of servers', async () => {
    const servers = Array.from({ length: 120 }, (_, n) => server(n + 1))
    using p = await decided({ packages: [pack('1', { memoryMb: 256, diskGb: 5 })], servers }, { lets: 'known' })
    const asked: string[] = []
    const send = p.controller.hub.send
    p.controller.hub.send = (key, command) => {
      asked.push(command.name)
      return send(key, command)
    }
    await dryRun(p)
    expect(asked).toEqual(['source-host.key', 'source-host.look'])
    expect((await totals(p)).findings).toMatchObject([{ code: 'no_login', servers: 120 }])
  })

  test('the domain exists', async () => {
    using p = await first(null)
    expect((await dryRun(p)).status).toBe('ready')
    expect(await results(p)).toEqual([['to_fix', 'no_such_domain'], ['ready']])
    expect(await wordsOf(p, '1')).toEqual(['the hypervisor has no domain v1'])
  })

  test("exactly one raw or qcow2 disk exists (kind A's cloud-init drive file does not count)", async () => {
    const seed = drive({ target: 'vdb', path: '/var/lib/libvirt/images/1/cloud-init', isSeed: true, format: 'raw' })
    const cdrom = drive({ target: 'hda', device: 'cdrom', bus: 'ide', isReadOnly: true })
    for (const [described, result, words] of [
      [withDrives(drive()), ['ready'], []],
      [withDrives(drive({ format: 'raw', holder: 'lvm', path: '/dev/vg/one' })), ['ready'], []],
      [withDrives(drive(), seed, cdrom), ['ready'], []],
      [
        withDrives(drive(), drive({ target: 'vdb', path: '/data' })),
        ['stays', 'disks'],
        ['has 2 disks; exactly one raw or qcow2 disk can be imported'],
      ],
      [withDrives(cdrom), ['stays', 'disks'], ['has 0 disks; exactly one raw or qcow2 disk can be imported']],
      [
        withDrives(drive({ format: 'vmdk' })),
        ['stays', 'disk_format'],
        ['its disk is vmdk; exactly one raw or qcow2 disk can be imported'],
      ],
      [
        withDrives(drive({ holder: 'network', path: null, format: 'raw' })),
        ['stays', 'disk_format'],
        ['its disk is behind a network protocol; exactly one raw or qcow2 disk can be imported'],
      ],
      [withDrives(drive({ format: null, trouble: 'Permission denied' })), ['to_fix', 'disk_unreadable'], undefined],
      [withDrives(drive({ virtualBytes: 41 * GIB })), ['to_fix', 'disk_too_large'], undefined],
      [withDrives(drive({ backing: '/base.qcow2' })), ['remark', 'backing_file'], undefined],
      // More drives than are told in the answer.
      [{ definition: { drives: [drive()], driveCount: 9 } }, ['stays', 'disks'], undefined],
    ] as const) {
      using p = await first(described as FakeSourceServer)
      await dryRun(p)
      expect((await results(p))[0]).toEqual([...result])
      if (words) expect(await wordsOf(p, '1')).toEqual([...words])
      expect((await shown(p))[0]!.state).toBe(
        result[0] === 'stays' ? 'refused' : result[0] === 'to_fix' ? 'waiting' : 'ready',
      )
    }
  })

  test('a second drive is judged by what the panel tells of its disks', async () => {
    const second = drive({ target: 'vdb', path: '/var/lib/libvirt/images/1/settings', format: 'raw' })
    using p = await first(withDrives(drive(), second))
    const connect = p.other.source.connect
    const asked: string[] = []
    p.other.source.connect = (...of) => ({
      ...connect(...of),
      disks: async (id) => {
        asked.push(id)
        return [{ path: '/var/lib/libvirt/images/1/0', sizeGb: 20, isPrimary: true }]
      },
    })
    const wanted: unknown[] = []
    const send = p.controller.hub.send
    p.controller.hub.send = (key, command) => {
      if (command.name === 'source-servers.look') wanted.push((command.input as { servers: unknown }).servers)
      return send(key, command)
    }
    await dryRun(p)
    expect(asked).toEqual(['1'])
    expect(wanted.at(-1)).toEqual([{ domain: 'v1', diskPaths: ['/var/lib/libvirt/images/1/0'] }])
  })

  test('it boots with BIOS, not UEFI', async () => {
    using p = await first({ definition: { firmware: 'uefi' } })
    await dryRun(p)
    expect(await results(p)).toEqual([['stays', 'uefi'], ['ready']])
    expect((await shown(p))[0]).toMatchObject({
      state: 'refused',
      reason: 'UEFI boot (only BIOS servers can be imported)',
    })
    // The next dry run looks again.
    p.sources.describe(KVM_1, { lets: 'everyone' })
    await dryRun(p)
    expect(await results(p)).toEqual([['ready'], ['ready']])
  })

  test('for kind A, the server is running', async () => {
    const servers = [server(1, { state: 'stopped' }), server(2)]
    const described = { v1: null, v2: { state: 'off' as const } }
    using p = await decided({ servers }, { servers: described })
    await dryRun(p)
    expect(await results(p)).toEqual([
      ['to_fix', 'not_running'],
      ['to_fix', 'not_running'],
    ])
    const [one] = await shown(p)
    expect(one!.check.findings[0]).toMatchObject({
      words: 'is not running',
      remedy: 'Start it at the source, then run the dry run again.',
    })
    // Kind B keeps the definition of a server that is off: it comes, and stays off.
    p.db.$client.run("UPDATE imports SET kind = 'virtualizor'")
    p.sources.describe(KVM_1, { lets: 'everyone', servers: { v1: { state: 'off' } } })
    await dryRun(p)
    expect(await results(p)).toEqual([['remark', 'stopped'], ['ready']])
    expect((await shown(p))[0]!.check['awaySeconds']).toBe(0)
  })

  test('its MAC address', async () => {
    const nic = (mac: string) => ({ mac, model: 'virtio', bridge: 'br0' })
    using p = await decided(
      { servers: [server(1), server(2, { mac: '02:00:5e:10:00:02' }), server(3), server(4)] },
      {
        servers: {
          v1: { definition: { nics: [nic('02:00:5e:10:00:01')] } },
          v2: { definition: { nics: [nic('02:00:5e:10:00:99')] } },
          v3: { definition: { nics: [] } },
          v4: { definition: { nics: [nic('02:00:5e:10:00:04'), nic('02:00:5e:10:00:05')] } },
        },
      },
    )
    await dryRun(p)
    expect((await shown(p)).map(({ check }) => check['mac'])).toEqual([
      '02:00:5e:10:00:01',
      '02:00:5e:10:00:99',
      null,
      '02:00:5e:10:00:04',
    ])
    expect(await results(p)).toEqual([
      ['ready'],
      ['remark', 'other_mac'],
      ['remark', 'no_mac'],
      ['remark', 'more_cards'],
    ])
  })

  test('what is worth knowing is a remark, and does not stop it', async () => {
    using p = await decided(
      { servers: [server(1, { isSuspended: true, isInRescue: true }), server(2), server(3)] },
      {
        servers: {
          v1: withDrives(drive({ bus: 'scsi', snapshots: 2 })),
          v3: {
            definition: {
              drives: [drive({ bus: 'usb' })],
              nics: [{ mac: '02:00:5e:10:00:03', model: 'rtl8139', bridge: 'br0' }],
            },
          },
          v2: {
            definition: { cpuMode: 'custom', cpuModel: 'Cascadelake-Server', hostDevices: 1, looksLikeWindows: true },
          },
        },
      },
    )
    expect((await dryRun(p)).status).toBe('ready')
    const [one, two, three] = await results(p)
    expect(three!.toSorted()).toEqual(['no_such_device', 'other_bus', 'remark'])
    const words = (await shown(p)).flatMap(({ check }) => check['findings'] as { code: string; words: string }[])
    expect(words.flatMap(({ code, words }) => (/other_bus|no_such_device/.test(code) ? [words] : []))).toEqual([
      'keeps its disk on SCSI, which is virtio-scsi here',
      'has its disk on usb there, and virtio here',
      'keeps its network card, a model rtl8139',
    ])
    expect(one!.toSorted()).toEqual(['in_rescue', 'other_bus', 'remark', 'snapshots', 'suspended'])
    expect(two!.toSorted()).toEqual(['host_devices', 'maybe_windows', 'other_cpu', 'remark'])
  })
})

test('Run dry run again keeps the mappings.', async () => {
  using p = await decided()
  await dryRun(p)
  const mapping = async () => [
    await p.admin('GET', `/admin/migrations/${p.id}/mapping`),
    ...(await Promise.all(
      ['hypervisors', 'packages', 'ranges', 'owners'].map((part) =>
        p.admin('GET', `/admin/migrations/${p.id}/mapping/${part}`),
      ),
    )),
  ]
  const before = await mapping()
  await dryRun(p)
  expect(await mapping()).toEqual(before)
})

test('A server added or removed at the source needs Discover again.', async () => {
  using p = await decided()
  await dryRun(p)
  p.other.listed.servers = [server(1), server(3)]
  p.sources.describe(KVM_1, { lets: 'everyone', servers: { v2: null } })
  await dryRun(p)
  expect(await results(p)).toEqual([['ready'], ['to_fix', 'no_such_domain']])
  expect((await shown(p))[1]!.check.findings[0]!.remedy).toStartWith('Discover again')
  expect((await totals(p)).words).toContain('needs Discover again')
  await discovered(p, p.id)
  // The findings of an earlier dry run are about the panel as it was.
  expect(await results(p)).toEqual([[null], [null]])
  expect(await totals(p)).toMatchObject({ endedAt: null, servers: { unchecked: 2 } })
  await decide(p, p.id, p.location)
  await dryRun(p)
  expect((await shown(p)).map(({ sourceId }) => sourceId)).toEqual(['1', '3'])
  expect(await results(p)).toEqual([['ready'], ['ready']])
})

test('The dry run checks that each node has enough free addresses.', async () => {
  // The pool of Frankfurt has 20 addresses.
  const servers = Array.from({ length: 23 }, (_, n) => server(n + 1))
  using p = await decided({ servers })
  await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'new' }] })
  await settled(p, p.id)
  await dryRun(p)
  const found = await results(p)
  expect(found.filter(([result]) => result === 'ready')).toHaveLength(20)
  expect(found.filter(([, code]) => code === 'no_addresses')).toHaveLength(3)
  const [lacking] = await shown(p, '&finding=no_addresses')
  expect(lacking!.check.findings[0]!.words).toBe(
    'no node has enough free addresses: No free IPv4 address in Frankfurt: fra-01 no free IPv4 address',
  )
  expect(await totals(p)).toMatchObject({ newIpv4: 20, nodes: [{ newIpv4: 20, freeIpv4: 20 }] })
})

test('new addresses are set by the guest agent: a guest without one is a remark', async () => {
  using p = await first({ definition: { hasGuestAgent: false } })
  await dryRun(p)
  expect((await results(p))[0]).toEqual(['ready'])
  await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'new' }] })
  await settled(p, p.id)
  expect(await totals(p)).toMatchObject({ isOutdated: true })
  await dryRun(p)
  expect((await results(p))[0]).toEqual(['remark', 'no_guest_agent'])
})

test('Accounts are re-checked at the dry run; a conflict that appeared since waits for the choice.', async () => {
  using p = await decided({ owners: [owner('1'), owner('2')], servers: [server(1), server(2, { ownerId: '2' })] })
  expect((await dryRun(p)).status).toBe('ready')
  await p.admin('POST', '/admin/customers', { email: 'owner1@source.test', name: 'Somebody else' })
  const again = await dryRun(p)
  expect(again).toMatchObject({ status: 'mapping', left: { owners: { rows: 1, servers: 1 } } })
  expect(await results(p)).toEqual([['to_fix', 'undecided'], ['ready']])
  expect(await wordsOf(p, '1')).toEqual(['waits for a decision: its owner'])
  expect((await row(p, 'owners', '1')).lapsed).toContain('There is an account with this address now')
  await map(p, p.id, { owners: [{ sourceId: '1', choice: 'merge' }] })
  await settled(p, p.id)
  expect((await dryRun(p)).status).toBe('ready')
})

describe('where each server goes', () => {
  test('copies are spread over the nodes one after another by the placement rule, like new orders', async () => {
    const servers = Array.from({ length: 6 }, (_, n) => server(n + 1))
    using p = await decided({ servers }, { nodes: ['fra-02', 'fra-03'] })
    await dryRun(p)
    expect((await totals(p)).nodes.map(({ servers }: { servers: number }) => servers)).toEqual([2, 2, 2])
    await p.admin('PATCH', `/admin/node-groups/${p.location}`, { placement: 'fill' })
    await dryRun(p)
    expect((await totals(p)).nodes).toMatchObject([{ servers: 6 }])
  })

  test('a server that no node has room for says what each node lacks', async () => {
    const packages = [pack('1'), pack('2', { memoryMb: 40_960 })]
    const servers = [1, 2].map((n) => server(n, { packageId: '2', memoryMb: 40_960 }))
    using p = await decided({ packages, servers })
    await dryRun(p)
    expect(await results(p)).toEqual([['ready'], ['to_fix', 'no_room']])
    expect(await wordsOf(p, '2')).toEqual(['no node takes it: No node in Frankfurt has room: fra-01 no memory left'])
  })

  test('the place of a server that stays on the source is given to another one', async () => {
    const packages = [pack('1'), pack('2', { memoryMb: 40_960 })]
    const servers = [1, 2].map((n) => server(n, { packageId: '2', memoryMb: 40_960 }))
    using p = await decided({ packages, servers }, { servers: { v1: { definition: { firmware: 'uefi' } } } })
    await dryRun(p)
    expect(await results(p)).toEqual([['stays', 'uefi'], ['ready']])
  })

  test('addresses in an own pool go only to nodes that route it', async () => {
    using p = await decided({}, { nodes: ['fra-02'] })
    const own = { name: 'own', network: '198.51.100.0/24', gateway: '198.51.100.1', first: '198.51.100.10' }
    await p.admin('POST', '/admin/ip-pools', { ...own, last: '198.51.100.250', nodeIds: [p.more[0]!.id] })
    await map(p, p.id, { ranges: [{ sourceId: '1', choice: 'pool' }] })
    await settled(p, p.id)
    await dryRun(p)
    expect((await shown(p)).map(({ check }) => check.node?.name)).toEqual(['fra-02', 'fra-02'])
  })
})

describe('refusals in the words of the specification', () => {
  test('containers, Windows and UEFI stay on the source', async () => {
    const servers = [server(1, { virtualization: 'container' }), server(2, { isWindows: true }), server(3), server(4)]
    using p = await decided({ servers }, { servers: { v3: { definition: { firmware: 'uefi' } } } })
    await dryRun(p)
    expect((await shown(p, '&result=stays')).map(({ reason }) => reason)).toEqual([
      'OpenVZ or LXC container (stays on source, containers cannot run on KVM)',
      'Windows guest (stays on source, not supported by imports)',
      'UEFI boot (only BIOS servers can be imported)',
    ])
    expect(await totals(p)).toMatchObject({ servers: { stays: 3, ready: 1 } })
  })

  test('could not log in over SSH (key missing on the source)', async () => {
    using p = await decided({}, { lets: 'known' })
    await dryRun(p)
    expect(await wordsOf(p, '1')).toEqual(['could not log in over SSH (key missing on the source)'])
  })
})

describe('what the panel tells wrongly', () => {
  test('two servers with one domain are not taken for each other', async () => {
    using p = await decided({ servers: [server(1), server(2, { domain: 'v1' }), server(3)] })
    await dryRun(p)
    expect(await results(p)).toEqual([['to_fix', 'domain_twice'], ['to_fix', 'domain_twice'], ['ready']])
  })

  test('a domain that looks like an option or a path is not asked for', async () => {
    const servers = ['--all', '../v1', 'v1; reboot', 'v1'].map((domain, n) => server(n + 1, { domain }))
    using p = await decided({ servers })
    await dryRun(p)
    expect(await results(p)).toEqual([
      ['stays', 'bad_domain'],
      ['stays', 'bad_domain'],
      ['stays', 'bad_domain'],
      ['ready'],
    ])
  })
})

test('filters select servers by result, finding, node and time away', async () => {
  using p = await decided(
    { servers: [server(1), server(2), server(3)] },
    { servers: { v1: null, v2: { state: 'paused' } } },
  )
  await dryRun(p)
  const ids = async (query: string) => (await shown(p, query)).map(({ sourceId }) => sourceId)
  expect(await ids('&result=to_fix')).toEqual(['1', '2'])
  expect(await ids('&result=ready')).toEqual(['3'])
  expect(await ids('&finding=paused')).toEqual(['2'])
  expect(await ids(`&nodeId=${p.node.id}`)).toEqual(['3'])
  expect(await ids('&awayOver=10')).toEqual(['3'])
  expect(await ids('&awayOver=10000')).toEqual([])
  const csv = (await p.call(p.owner, 'GET', `/admin/migrations/${p.id}/dry-run.csv?finding=paused`)).body
  expect(csv.trim().split('\n')).toHaveLength(2)
})

test('a dry run is refused where it makes no sense, and changes nothing then', async () => {
  using p = await decided()
  const path = `/admin/migrations/${p.id}/actions/dry-run`
  for (const [status, code] of [
    ['draft', 'import_not_discovered'],
    ['discovering', 'import_busy'],
    ['checking', 'import_busy'],
    ['migrating', 'import_started'],
    ['finished', 'import_ended'],
  ] as const) {
    p.db.$client.run('UPDATE imports SET status = ? WHERE id = ?', [status, p.id])
    expect(await refused(p, 'POST', path)).toEqual([409, code])
  }
})

test('servers of a hypervisor that is a node are looked at by that node itself, without a log-in', async () => {
  using p = await decided()
  const before = p.sources.signInsAt(KVM_1)
  p.sources.describe(KVM_1, { lets: 'known' })
  giveAddresses(p, p.node, [`${KVM_1}/24`])
  await discovered(p, p.id)
  await decide(p, p.id, p.location)
  expect((await row(p, 'hypervisors', '1')).choice).toBe('adopt')
  p.sources.describe('own', { servers: { v2: withDrives(drive({ backing: '/base.qcow2' })) } })
  const asked: string[] = []
  const send = p.controller.hub.send
  p.controller.hub.send = (key, command) => {
    asked.push(command.name)
    return send(key, command)
  }
  expect((await dryRun(p)).status).toBe('ready')
  expect(asked).toEqual(['own-servers.look'])
  expect(await results(p)).toEqual([['ready'], ['stays', 'backing_file_adopted']])
  const [one] = await shown(p)
  expect(one!.check).toMatchObject({ node: { id: p.node.id }, copySeconds: 0 })
  expect(one!.check['awaySeconds']).toBeLessThan(60)
  expect((await p.admin('GET', `/admin/migrations/${p.id}/access`)).data).toMatchObject([
    { way: 'adopt', node: { id: p.node.id }, nodes: [], command: null },
  ])
  expect(p.sources.signInsAt(KVM_1)).toEqual(before)
})
