// A node looks at real source hypervisors of both panels: at domains of libvirt, and their drives.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SshSourceHosts } from '../../../agent/drivers/source-host/ssh-source-hosts.ts'
import { disksOf, type SourceServer } from '../../../agent/protocol/values/source-hosts.ts'
import { temporary } from '../../agent/temporary.ts'
import { bootDisk, cloudInitDrive, domainXml, usualOs } from '../../support/source-hypervisors/domains.ts'
import { noSourceLab, ROOT_PASSWORD, type SourceHypervisor, sourceLab } from '../../support/source-hypervisors/lab.ts'
import { installPanel } from '../../support/source-hypervisors/panels.ts'
import { enterNetwork } from '../namespace.ts'
import { note } from '../tools.ts'

const MiB = 1 << 20
const uuid = (n: number) => `6f9d3c4e-2f0b-4f0e-9a54-${String(n).padStart(12, '0')}`
const IMAGES = '/var/lib/libvirt/images'
const pflash = "<loader readonly='yes' type='pflash'>/usr/share/OVMF/OVMF_CODE_4M.fd</loader>"

describe.skipIf(note(await noSourceLab(), 'servers of source hypervisors'))('servers of source hypervisors', () => {
  let lab: Awaited<ReturnType<typeof sourceLab>>
  let source: SourceHypervisor
  let leave = () => {}
  const node = new SshSourceHosts(join(temporary('source-node'), 'source-hosts'))

  beforeAll(async () => {
    lab = await sourceLab(['a'])
    source = lab.hypervisors[0]!
    leave = enterNetwork(lab.nodes)
    await source.must('mkdir', '-p', '/var/lib/vz', IMAGES)
    const keys = [{ nodeId: `nod_${'1'.repeat(26)}`, publicKey: await node.key(), from: [] }]
    await node.addKeys({ host: source.host, password: ROOT_PASSWORD, keys })
  }, 60_000)
  afterAll(async () => {
    leave()
    await lab?.end()
  })

  async function serverOf(domain: string, diskPaths?: string[]): Promise<SourceServer> {
    const { servers } = await node.servers(source.host, [{ domain, ...(diskPaths && { diskPaths }) }])
    return servers[0]!
  }
  const definitionOf = async (domain: string, diskPaths?: string[]) => (await serverOf(domain, diskPaths)).definition!

  test('a transient domain of the first panel: its qcow2 disk counts, its cloud-init drive does not', async () => {
    const [name, folder] = [uuid(41), `${IMAGES}/41`]
    await bootDisk(source, `${folder}/0`, 'qcow2', 16 * MiB)
    await cloudInitDrive(source, `${folder}/cloud-init.iso`)
    const drives = [
      { path: `${folder}/0`, format: 'qcow2' },
      { path: `${folder}/cloud-init.iso`, device: 'cdrom', bus: 'ide', isReadOnly: true } as const,
    ]
    await source.domain('create', domainXml({ name, uuid: name, drives }))
    try {
      const { definition, ...server } = await serverOf(name)
      expect(server).toEqual({ domain: name, state: 'running', isPersistent: false, trouble: null })
      expect(definition).toMatchObject({
        ...{ uuid: name, virtualization: 'qemu', osType: 'hvm', firmware: 'bios', arch: 'x86_64', vcpus: 1 },
        ...{ memoryMb: 32, hasGuestAgent: true, hostDevices: 0, looksLikeWindows: false, snapshots: 0, driveCount: 2 },
        nics: [{ mac: '02:00:5e:10:00:41', model: 'virtio', bridge: 'br0' }],
      })
      expect(definition!.machine).toStartWith('pc-i440fx-')
      const [disk, ...others] = disksOf(definition!)
      expect(others).toEqual([])
      expect(disk).toMatchObject({
        ...{ target: 'vda', bus: 'virtio', holder: 'file', path: `${folder}/0`, format: 'qcow2', backing: null },
        ...{ virtualBytes: 16 * MiB, snapshots: 0, trouble: null, isReadOnly: false, isSeed: false },
      })
      expect(disk!.allocatedBytes).toBeGreaterThan(0)
      expect(disk!.allocatedBytes).toBeLessThan(MiB)
      expect(definition!.drives[1]).toMatchObject({ device: 'cdrom', isSeed: true, isReadOnly: true })
    } finally {
      await source.virsh('destroy', name)
    }
    expect(await serverOf(name)).toMatchObject({ state: 'absent', definition: null, trouble: null })
  })

  test('a cloud-init drive is known by each of its marks, also where it is a second disk', async () => {
    const [name, folder] = [uuid(42), `${IMAGES}/42`]
    await bootDisk(source, `${folder}/0`, 'raw', 80 * MiB)
    const disksWith = async (path: string, told?: string[], isReadOnly = false) => {
      const drives = [{ path: `${folder}/0` }, { path, isReadOnly }]
      await source.domain('define', domainXml({ name, uuid: name, drives }))
      return disksOf(await definitionOf(name, told)).map((disk) => disk.path)
    }
    // By the label of its file system, whatever its name.
    await cloudInitDrive(source, `${folder}/1`)
    expect(await disksWith(`${folder}/1`)).toEqual([`${folder}/0`])
    // By its name.
    await source.write(`${folder}/seed.img`, new Uint8Array(MiB))
    expect(await disksWith(`${folder}/seed.img`)).toEqual([`${folder}/0`])
    // The panel does not name it, and it is small.
    await source.write(`${folder}/2`, new Uint8Array(MiB))
    expect(await disksWith(`${folder}/2`, [`${folder}/0`])).toEqual([`${folder}/0`])
    expect(await disksWith(`${folder}/2`, [], true)).toEqual([`${folder}/0`])
    // Otherwise it is a disk, and the server has two of them.
    expect(await disksWith(`${folder}/2`)).toHaveLength(2)
    expect(await disksWith(`${folder}/seed.img`, [`${folder}/0`, `${folder}/seed.img`])).toHaveLength(2)
    await source.must('truncate', '-s', '70M', `${folder}/2`)
    expect(await disksWith(`${folder}/2`, [`${folder}/0`])).toHaveLength(2)
    await source.virsh('undefine', name)
  })

  test('persistent domains of the second panel that are off: files, formats, chains and snapshots', async () => {
    const of = async (n: number, format: string, path: string) => {
      await source.domain('define', domainXml({ name: `v${n}`, drives: [{ path, format }] }))
      const { state, isPersistent, definition } = await serverOf(`v${n}`)
      expect([state, isPersistent]).toEqual(['off', true])
      return definition!.drives[0]!
    }
    const image = (...words: string[]) => source.must('qemu-img', ...words)
    await image('create', '-f', 'qcow2', '/var/lib/vz/base.qcow2', '20M')
    await image('create', '-f', 'qcow2', '-b', '/var/lib/vz/base.qcow2', '-F', 'qcow2', '/var/lib/vz/top.qcow2')
    await image('snapshot', '-c', 'before', '/var/lib/vz/base.qcow2')
    await image('create', '-f', 'vmdk', '/var/lib/vz/one.vmdk', '20M')
    await source.must('truncate', '-s', '30M', '/var/lib/vz/a disk; $(touch hacked) `x` "y".raw')
    expect(await of(1001, 'qcow2', '/var/lib/vz/top.qcow2')).toMatchObject({
      backing: '/var/lib/vz/base.qcow2',
      virtualBytes: 20 * MiB,
    })
    expect(await of(1002, 'qcow2', '/var/lib/vz/base.qcow2')).toMatchObject({
      backing: null,
      snapshots: 1,
      trouble: null,
    })
    expect(await of(1003, 'vmdk', '/var/lib/vz/one.vmdk')).toMatchObject({ format: 'vmdk', virtualBytes: null })
    const odd = await of(1004, 'raw', '/var/lib/vz/a disk; $(touch hacked) `x` "y".raw')
    expect(odd).toMatchObject({ format: 'raw', virtualBytes: 30 * MiB, allocatedBytes: 0, trouble: null })
    expect(odd.path).toBe('/var/lib/vz/a disk; $(touch hacked) `x` "y".raw')
    // The guest writes its raw disk, which is not believed; a definition that is wrong is told.
    await source.must('cp', '/var/lib/vz/top.qcow2', '/var/lib/vz/guest.raw')
    expect(await of(1005, 'raw', '/var/lib/vz/guest.raw')).toMatchObject({ format: 'raw', backing: null })
    const wrong = await of(1006, 'qcow2', '/var/lib/vz/one.vmdk')
    expect(wrong).toMatchObject({ format: null, virtualBytes: null })
    expect(wrong.trouble).toContain('no qcow2 disk')
    expect(await of(1007, 'raw', '/var/lib/vz/gone.raw')).toMatchObject({ trouble: 'there is no such file or device' })
    expect((await source.run('find', '/root', '/', '-maxdepth', '1', '-name', 'hacked')).out).toBe('')
  })

  test('UEFI boot (only BIOS servers can be imported), disks elsewhere than in files, and Windows', async () => {
    await bootDisk(source, '/var/lib/vz/2001.raw', 'raw', MiB)
    const drives = [{ path: '/var/lib/vz/2001.raw' }]
    const defined = async (more: Partial<Parameters<typeof domainXml>[0]>) => {
      await source.domain('define', domainXml({ name: 'v2001', drives, ...more }))
      const definition = await definitionOf('v2001')
      await source.virsh('undefine', '--nvram', 'v2001')
      return definition
    }
    expect((await defined({})).firmware).toBe('bios')
    expect((await defined({ os: usualOs.replace('</type>', `</type>${pflash}`) })).firmware).toBe('uefi')
    const windows = await defined({ more: "<clock offset='localtime'/>" })
    expect(windows.looksLikeWindows).toBeTrue()
    const rbd = "<source protocol='rbd' name='pool/image'><host name='192.0.2.9' port='6789'/></source>"
    const network = await defined({ drives: [{ path: '', source: { kind: 'network', xml: rbd } }] })
    expect(network.drives[0]).toMatchObject({ holder: 'network', path: 'pool/image', trouble: 'it is on rbd' })
    await source.virsh('pool-create-as', 'vz', 'dir', '--target', '/var/lib/vz')
    const inPool = "<source pool='vz' volume='2001.raw'/>"
    const volume = await defined({ drives: [{ path: '', source: { kind: 'volume', xml: inPool } }] })
    expect(volume.drives[0]).toMatchObject({
      holder: 'file',
      path: '/var/lib/vz/2001.raw',
      virtualBytes: MiB,
      trouble: null,
    })
  })

  test('a name of digits is never taken for the number of another server', async () => {
    await bootDisk(source, '/var/lib/vz/3001.raw', 'raw', MiB)
    await source.domain('create', domainXml({ name: 'v3001', drives: [{ path: '/var/lib/vz/3001.raw' }] }))
    try {
      const id = (await source.virsh('domid', 'v3001')).trim()
      const server = await serverOf(id)
      expect(server).toMatchObject({ domain: id, state: 'unknown', definition: null })
      expect(server.trouble).toContain('v3001')
    } finally {
      await source.virsh('destroy', 'v3001')
    }
  })

  test('a hundred servers in one question, in its order, and nothing is changed at the source', async () => {
    await source.must('truncate', '-s', '1M', '/var/lib/vz/many.raw')
    const names = Array.from({ length: 100 }, (_, n) => `v${4000 + n}`)
    const there = names.filter((_, n) => n % 10 < 3)
    await source.domain('define', ...there.map(manyOf))
    for (const kind of ['solusvm2', 'virtualizor'] as const) await installPanel(source, kind)
    const before = await treeOf(source)
    expect(before).toContain('/etc/cron.d/virtualizor')
    const { servers } = await node.servers(
      source.host,
      names.map((domain) => ({ domain })),
    )
    expect(servers.map(({ domain }) => domain)).toEqual(names)
    expect(servers.filter(({ state }) => state === 'off')).toHaveLength(30)
    expect(servers.filter(({ state }) => state === 'absent')).toHaveLength(70)
    expect(await treeOf(source)).toBe(before)
  })

  test.skipIf(!process.env['BERTH_LONG'])(
    '2,000 servers in less than five minutes, with two sessions at a time',
    async () => {
      const names = Array.from({ length: 2000 }, (_, n) => `v${10_000 + n}`)
      await source.must('truncate', '-s', '1M', '/var/lib/vz/many.raw')
      for (let n = 0; n < names.length; n += 200) await source.domain('define', ...names.slice(n, n + 200).map(manyOf))
      const began = performance.now()
      let most = 0
      let isOver = false
      const watching = (async () => {
        for (; !isOver; await Bun.sleep(200))
          most = Math.max(most, Number((await source.run('pgrep', '-fc', 'sshd: root@notty')).out))
      })()
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          node.servers(
            source.host,
            names.slice(n * 100, n * 100 + 100).map((domain) => ({ domain })),
          ),
        ),
      )
      const took = performance.now() - began
      isOver = true
      await watching
      expect(answers.flatMap(({ servers }) => servers.map(({ domain, state }) => `${domain} ${state}`))).toEqual(
        names.map((name) => `${name} off`),
      )
      process.stderr.write(`2,000 servers took ${Math.round(took / 1000)} s, with ${most} sessions at a time\n`)
      expect(took).toBeLessThan(300_000)
      expect(most).toBeLessThanOrEqual(2)
    },
    600_000,
  )

  test('no libvirt answers', async () => {
    await source.write(
      '/usr/local/bin/virsh',
      '#!/bin/sh\necho "error: failed to connect to the hypervisor" >&2\nexit 1\n',
      '755',
    )
    try {
      expect(await node.servers(source.host, [{ domain: 'v1' }]).catch((error) => error)).toMatchObject({
        code: 'source_no_libvirt',
      })
      const { facts } = await node.look(source.host)
      expect(facts).toMatchObject({ libvirtAnswers: false })
    } finally {
      await source.must('rm', '/usr/local/bin/virsh')
    }
  })

  test('an answer without end is cut off, and greetings of the shell and the server are no answer', async () => {
    await source.write('/usr/local/bin/virsh', '#!/bin/sh\nexec yes "State: running" >&2\n', '755')
    try {
      expect(await node.servers(source.host, [{ domain: 'v1' }]).catch((error) => error)).toMatchObject({
        code: 'source_invalid',
      })
    } finally {
      await source.must('rm', '/usr/local/bin/virsh')
    }
    await source.write('/root/.bashrc', 'echo "Welcome! #end#"; echo "Permission denied (password)." >&2\n')
    await source.write('/etc/ssh/banner', 'Host key verification failed. Permission denied (publickey).\n')
    try {
      await source.configureSsh('Banner /etc/ssh/banner')
      expect(await serverOf('v1')).toMatchObject({ state: 'absent', trouble: null })
    } finally {
      await source.must('rm', '/root/.bashrc')
      await source.configureSsh()
    }
  })

  test('the source tells what it is: its tools, its clock and its free space', async () => {
    const { facts } = await node.look(source.host)
    expect(facts).toMatchObject({ libvirtAnswers: true, containers: [] })
    expect(facts!.tools.libvirt).toMatch(/^\d+\.\d+\.\d+$/)
    expect(facts!.tools.qemuImg).toStartWith('qemu-img version')
    expect(facts!.tools.ssh).toStartWith('OpenSSH_')
    expect(Math.abs(facts!.now - Date.now())).toBeLessThan(20_000)
    expect(facts!.hashMbps).toBeGreaterThan(100)
    expect(facts!.memoryMb).toBeGreaterThan(500)
    expect(facts!.cpu.threads).toBeGreaterThan(0)
  })
})

const manyOf = (name: string) => domainXml({ name, drives: [{ path: '/var/lib/vz/many.raw' }] })

/** Every file of which servers are made, with its mode, its time of change, its size and its checksum. */
const treeOf = (source: SourceHypervisor) => source.must('sh', '-c', FILES)
const FILES = `
find /var/lib/vz /etc /root/.ssh ${IMAGES} /usr/local/solus /usr/local/virtualizor /usr/local/emps -type f \\
  -exec stat -c "%n %a %Y %s" {} + | sort
cksum /var/lib/vz/* /etc/libvirt/qemu/*.xml`
