import { afterEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { domainXml } from '../../../agent/drivers/hypervisor/domain-xml.ts'
import { layersIn } from '../../../agent/drivers/hypervisor/libvirt.ts'
import { usableMetadata } from '../../../agent/drivers/storage/lvm-thin.ts'
import { openPools } from '../../../agent/drivers/storage/pools-file.ts'
import { type Pool, qemuPath, Storage } from '../../../agent/drivers/storage/storage.ts'
import type { Failure } from '../../../agent/failure.ts'
import type { PoolCapacity } from '../../../agent/protocol/wire.ts'
import { vmOf } from '../../agent/examples.ts'
import { berthAgent } from '../../agent/run.ts'
import { temporary } from '../../agent/temporary.ts'

const secretUuid = '0d2b1f2e-5c1d-4f7e-9d57-2f3f6a1c7e10'
const lvm = { name: 'fast', kind: 'lvm-thin', volumeGroup: 'berth', thinPool: 'pool' }
const rbd = { name: 'ceph', kind: 'rbd', pool: 'berth', user: 'berth', secretUuid }

afterEach(() => void delete process.env['PANEL_AGENT_POOLS'])

function dirWith(content: unknown): string {
  const dir = temporary('pools')
  writeFileSync(join(dir, 'pools.json'), typeof content === 'string' ? content : JSON.stringify(content))
  return dir
}

describe('the pools of a node', () => {
  test('are one of files without a setting', () => {
    const dir = temporary('pools')
    expect(openPools(dir).map(({ described }) => described)).toEqual([
      { name: 'local', kind: 'file', path: join(dir, 'pools/local') },
    ])
  })
  test('are those of pools.json, or of another file', () => {
    const path = join(temporary('pools'), 'disks')
    const pools = [
      { name: 'local', kind: 'file', path, class: 'ssd' },
      { ...lvm, class: 'nvme' },
      { name: 'tank', kind: 'zfs', dataset: 'tank/berth' },
      rbd,
    ]
    const dir = dirWith({ pools })
    const described = [
      { name: 'local', kind: 'file', path, class: 'ssd' },
      { name: 'fast', kind: 'lvm-thin', path: 'berth/pool', class: 'nvme' },
      { name: 'tank', kind: 'zfs', path: 'tank/berth' },
      { name: 'ceph', kind: 'rbd', path: 'berth' },
    ] as Pool['described'][]
    expect(openPools(dir).map((pool) => pool.described)).toEqual(described)
    process.env['PANEL_AGENT_POOLS'] = join(dir, 'pools.json')
    expect(openPools(temporary('pools')).map((pool) => pool.described)).toEqual(described)
    process.env['PANEL_AGENT_POOLS'] = join(dir, 'missing.json')
    expect(() => openPools(dir)).toThrow('missing.json')
  })

  const wrong: [string, unknown, string][] = [
    ['no JSON', '{', 'pools.json'],
    ['no list', { pool: [] }, 'no list "pools"'],
    ['an empty list', { pools: [] }, 'no list "pools"'],
    ['an unknown kind', { pools: [{ name: 'a', kind: 'nfs' }] }, 'pools[0].kind is none of file, lvm-thin, zfs, rbd'],
    ['a missing field', { pools: [{ ...lvm, thinPool: undefined }] }, 'pools[0]'],
    ['an unknown field', { pools: [{ ...lvm, size: 1 }] }, 'pools[0]'],
    ['a name like an option', { pools: [{ ...lvm, volumeGroup: '-y' }] }, 'pools[0].volumeGroup'],
    ['a dataset like an option', { pools: [{ name: 'a', kind: 'zfs', dataset: 'tank/-r' }] }, 'pools[0].dataset'],
    ['a path that is none', { pools: [{ name: 'a', kind: 'file', path: 'disks' }] }, 'pools[0].path'],
    ['one name twice', { pools: [lvm, { ...rbd, name: 'fast' }] }, 'pools[0] and pools[1] have the same name fast'],
    ['one storage twice', { pools: [lvm, { ...lvm, name: 'other' }] }, 'pools[0] and pools[1] are the same storage'],
    ['a user without a secret', { pools: [{ ...rbd, secretUuid: undefined }] }, 'needs both'],
    ['a key without a user', { pools: [{ name: 'a', kind: 'rbd', pool: 'a', keyringFile: '/a' }] }, 'and no user'],
    ['a keyring in two files', { pools: [{ ...rbd, keyringFile: '/a,/b' }] }, 'pools[0].keyringFile'],
    ['a path that ends an option', { pools: [{ ...rbd, configFile: '/a:key=b' }] }, 'pools[0].configFile'],
  ]
  for (const [what, content, words] of wrong)
    test(`with ${what} are refused, with the place in the file`, () => {
      expect(() => openPools(dirWith(content))).toThrow(words)
    })

  test('that do not answer have no space and say why, and the others are there', async () => {
    const [none] = await new Storage(openPools(dirWith({ pools: [lvm] }))).capacities()
    expect(none).toMatchObject({ name: 'fast', kind: 'lvm-thin', totalBytes: 0, freeBytes: 0 })
    expect(none!.silentSince).toBeGreaterThan(Date.now() - 10_000)
    expect(none!.warnings?.[0]).toStartWith('The pool does not answer: ')
  })
  test('that hang are asked once, and the others are told meanwhile', async () => {
    const local = openPools(temporary('pools'))[0]!
    let asked = 0
    let answer = (_: PoolCapacity) => {}
    const capacity = () => {
      asked++
      return new Promise<PoolCapacity>((resolve) => (answer = resolve))
    }
    const list = () => {
      asked++
      return Promise.resolve([])
    }
    const hanging = { described: { name: 'slow', kind: 'rbd', path: 'slow' }, name: 'slow', capacity, list }
    const storage = new Storage([hanging as unknown as Pool, local], 1500)
    const first = storage.capacities()
    await Bun.sleep(0)
    answer({ ...hanging.described, totalBytes: 2, freeBytes: 1 } as PoolCapacity)
    expect((await first)[0]).toEqual({ ...hanging.described, totalBytes: 2, freeBytes: 1 } as PoolCapacity)
    const began = Date.now()
    for (const _ of [1, 2]) {
      const [slow, here] = await storage.capacities()
      expect(slow).toMatchObject({ totalBytes: 2, freeBytes: 1, warnings: [expect.stringContaining('no answer')] })
      expect(slow!.silentSince).toBeWithin(began - 1, began + 1400)
      expect(here!.totalBytes).toBeGreaterThan(0)
      expect(await storage.volumes()).toEqual({ volumes: [], silent: ['slow'] })
    }
    const refused = await storage.answering('slow').catch((error: Failure) => error.code)
    expect([asked, refused, (await storage.answering('local')).name]).toEqual([2, 'pool_silent', 'local'])
    // The first question of the two that hung is answered late: only then is there another one.
    answer({ ...hanging.described, totalBytes: 2, freeBytes: 1 } as PoolCapacity)
    await Bun.sleep(0)
    const again = storage.capacities()
    await Bun.sleep(0)
    answer({ ...hanging.described, totalBytes: 4, freeBytes: 1 } as PoolCapacity)
    expect((await again)[0]).toEqual({ ...hanging.described, totalBytes: 4, freeBytes: 1 } as PoolCapacity)
    expect(await storage.volumes()).toEqual({ volumes: [], silent: [] })
    expect(asked).toBe(4)
  })
  test('are lines of the doctor', async () => {
    const { out, code } = await berthAgent(['doctor', '--data-dir', dirWith({ pools: [lvm] })])
    expect([out, code]).toEqual([expect.stringMatching(/^fail {2}pool fast {7}— lvm-thin berth\/pool: /m), 1])
    const keyringFile = '/nonexistent/keyring'
    const ceph = await berthAgent(['doctor', '--data-dir', dirWith({ pools: [{ ...rbd, keyringFile }] })])
    expect(ceph.out).toMatch(/^fail {2}pool ceph {7}— rbd berth: There is no \/nonexistent\/keyring\. /m)
    const bad = await berthAgent(['doctor', '--data-dir', dirWith('{')])
    expect(bad.out).toMatch(/^fail {2}pools .*pools\.json/m)
  })
})

describe('the metadata of a thin pool', () => {
  const MiB = 2 ** 20
  test('counts as full where LVM makes no more volumes, also in a small pool', () => {
    expect(usableMetadata(4 * MiB, 75).metadata).toBe(90)
    expect(usableMetadata(20 * MiB, 80).metadata).toBe(90)
    expect(usableMetadata(4 * MiB, 100).metadata).toBe(100)
    expect(usableMetadata(4 * MiB, 50)).toEqual({ metadataTotalBytes: Math.floor((4 * MiB) / 1.2), metadata: 60 })
    for (const total of [40 * MiB, 8192 * MiB])
      expect(usableMetadata(total, 89)).toEqual({ metadataTotalBytes: total, metadata: 89 })
  })
})

describe('a disk that is no file', () => {
  const device = { kind: 'block', path: '/dev/berth/disk', format: 'raw', stopsWhenFull: true } as const
  const access = { configFile: '/etc/ceph/ceph.conf', auth: { user: 'berth', secretUuid } }
  const image = { kind: 'network', protocol: 'rbd', path: 'berth/disk', format: 'raw', access } as const
  const diskIn = (text: string) => text.match(/<disk [\s\S]*?<\/disk>/)![0]

  test('is in the definition of a vm by its device, and the vm pauses when its pool is full', () => {
    const text = diskIn(domainXml(vmOf(1), device, undefined, 'kvm'))
    expect(text).toStartWith('<disk type="block" device="disk">')
    expect(text).toContain('<driver name="qemu" type="raw" cache="none" error_policy="stop" discard="unmap"/>')
    expect(text).toContain('<source dev="/dev/berth/disk"/>')
  })
  test('is in the definition of a vm by its cluster, whose key libvirt has', () => {
    const text = diskIn(domainXml(vmOf(1), image, undefined, 'kvm'))
    expect(text).toStartWith('<disk type="network" device="disk">')
    expect(text).toMatch(/<source protocol="rbd" name="berth\/disk">\s*<config file="\/etc\/ceph\/ceph.conf"\/>/)
    expect(text).toMatch(new RegExp(`<auth username="berth">\\s*<secret type="ceph" uuid="${secretUuid}"/>`))
    const waits = 'client_mount_timeout=20:rados_mon_op_timeout=20:rados_osd_op_timeout=45'
    expect(qemuPath(image)).toBe(`rbd:berth/disk:id=berth:conf=/etc/ceph/ceph.conf:${waits}`)
    const auth = { ...access.auth, keyringFile: '/etc/ceph/berth.keyring' }
    const withKeyring = qemuPath({ ...image, access: { ...access, auth } })
    expect(withKeyring).toStartWith('rbd:berth/disk:id=berth:keyring=/etc/ceph/berth.keyring:conf=')
    expect(text).not.toContain('keyring')
  })
  test('is found in the definition of a running vm', () => {
    const of = (source: string) =>
      layersIn(`<disk type='x'>${source}<target dev='vda' bus='virtio'/><serial>system</serial></disk>`)
    expect(of(`<source dev='/dev/berth/disk' index='1'/>`)?.files).toEqual(['/dev/berth/disk'])
    expect(of(`<source protocol='rbd' name='berth/disk' index='1'>`)?.files).toEqual(['berth/disk'])
  })
})
