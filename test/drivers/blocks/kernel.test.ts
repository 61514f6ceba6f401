// LVM-thin and ZFS on devices of this machine, whose content is lost: BERTH_TEST_LVM=DEVICE, BERTH_TEST_ZFS=DEVICE.
// in-guest.test.ts runs this file in a guest of its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BlockPool } from '../../../agent/drivers/storage/block-pool.ts'
import { appears } from '../../../agent/drivers/storage/device.ts'
import { LvmThin } from '../../../agent/drivers/storage/lvm-thin.ts'
import { atLayer } from '../../../agent/drivers/storage/storage.ts'
import { Zfs } from '../../../agent/drivers/storage/zfs.ts'
import { run } from '../../../agent/host/exec.ts'
import { volumeOf } from '../../agent/examples.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { storageContract } from '../storage.contract.ts'
import { lvmBeside, makeThinPool, makeZpool, zfsBeside } from './kernel-pools.ts'
import { empty, makeImage, qemuIo, readCharacter, rigOf } from './rig.ts'

const MiB = 2 ** 20
const LIMIT_MS = 600_000
const [lvmDevice, zfsDevice] = [process.env['BERTH_TEST_LVM'], process.env['BERTH_TEST_ZFS']]
let image: Awaited<ReturnType<typeof makeImage>>

const filling = (path: string, sizeBytes: number) => qemuIo('raw', path, `write -P 7 0 ${sizeBytes}`, '-t', 'none')

describe.skipIf(!lvmDevice)('a thin pool of LVM', () => {
  const driver = new LvmThin('berthtest', 'pool')
  let remove: (() => Promise<unknown>) | undefined
  beforeAll(async () => {
    image = await makeImage()
    remove = (await makeThinPool(lvmDevice!, 512)).remove
  }, LIMIT_MS)
  afterAll(() => remove?.(), LIMIT_MS)

  // A snapshot is not active.
  const opened = async (path: string) => {
    if (!/\.s\d+$/.test(path)) return { path, close: async () => {} }
    await run('lvchange', ['-ay', '-K', path.slice('/dev/'.length)])
    await appears(path)
    return { path, close: () => run('lvchange', ['-an', path.slice('/dev/'.length)]) }
  }
  const { beside, call } = lvmBeside
  storageContract(() => rigOf(driver, image, undefined, opened, beside), { formats: ['raw'], independent: true })

  test(
    'a thick volume that is taken in is listed, written and deleted, and neither grows nor has snapshots',
    async () => {
      const pool = new BlockPool('local', driver)
      await empty(pool)
      await beside.clear()
      const volume = volumeOf(1, 'raw')
      const thick = '/dev/berthtest/vsv1001'
      await call('lvcreate', '-y', '-L', '64M', '-n', 'vsv1001', 'berthtest')
      await qemuIo('raw', thick, 'write -P 111 0 64k')
      const before = await call('sha256sum', thick)
      await pool.takeIn(volume, '/dev/mapper/berthtest-vsv1001')
      expect([await pool.list(), await pool.sizeBytes(volume)]).toEqual([[volume], 64 * MiB])
      expect(await pool.usedBytes(volume)).toBe(64 * MiB)
      expect(await readCharacter((await pool.disk(volume)).path)).toBe('o')
      for (const tried of [pool.grow(volume, 96 * MiB), pool.fork(atLayer(volume, 1), 0, 64 * MiB)])
        await expect(tried).rejects.toMatchObject({ code: 'disk_is_thick' })
      expect(await pool.sizeBytes(volume)).toBe(64 * MiB)
      await pool.giveBack(volume, thick)
      expect(await call('sha256sum', thick)).toBe(before)
      expect(await call('lvs', '--noheadings', '-o', 'lv_tags', 'berthtest/vsv1001')).toBe('')
      await call('lvcreate', '-y', '-s', '-L', '16M', '-n', 'daily', 'berthtest/vsv1001')
      await expect(pool.takeIn(volume, thick)).rejects.toMatchObject({ code: 'source_disk_has_snapshots' })
      await call('lvremove', '-y', '-f', 'berthtest/daily')
      await pool.takeIn(volume, thick)
      await pool.remove(volume)
      expect(await beside.exists(thick)).toBe(false)
    },
    LIMIT_MS,
  )

  test(
    'a pool without zeroing makes no disk, and says why',
    async () => {
      const pool = new BlockPool('local', driver)
      await empty(pool)
      await run('lvchange', ['--zero', 'n', driver.path])
      await expect(pool.create(volumeOf(1, 'raw'), image, 64 * MiB)).rejects.toMatchObject({ code: 'pool_unsafe' })
      expect((await pool.capacity()).warnings?.join()).toContain('lvchange --zero y berthtest/pool')
      await run('lvchange', ['--zero', 'y', driver.path])
      expect((await pool.capacity()).warnings).toBeUndefined()
    },
    LIMIT_MS,
  )
  test(
    'a pool that is nearly full warns and takes no more, writes into a full one fail at once, and deleting heals it',
    async () => {
      const pool = new BlockPool('local', driver)
      await empty(pool)
      const [one, two] = [volumeOf(1, 'raw'), volumeOf(2, 'raw')]
      for (const volume of [one, two]) await pool.create(volume, image, 400 * MiB)
      await filling((await pool.disk(one)).path, 400 * MiB)
      await filling((await pool.disk(two)).path, 80 * MiB)
      const { warnings, freeBytes, totalBytes } = await pool.capacity()
      expect(warnings?.join()).toContain('lvextend -L +SIZE berthtest/pool')
      expect(freeBytes / totalBytes).toBeLessThan(0.1)
      await expect(pool.create(volumeOf(3, 'raw'), image, 64 * MiB)).rejects.toMatchObject({ code: 'pool_full' })
      await expect(pool.fork(atLayer(two, 1), 0, 400 * MiB)).rejects.toMatchObject({ code: 'pool_full' })
      const began = performance.now()
      await expect(filling((await pool.disk(two)).path, 400 * MiB)).rejects.toThrow('qemu-io')
      expect(performance.now() - began).toBeLessThan(55_000)
      await pool.remove(one)
      await filling((await pool.disk(two)).path, 400 * MiB)
      await empty(pool)
    },
    LIMIT_MS,
  )
})

describe.skipIf(!zfsDevice)('volumes of ZFS', () => {
  const driver = new Zfs('berthtest/disks')
  let zpool: Awaited<ReturnType<typeof makeZpool>> | undefined
  beforeAll(async () => {
    image = await makeImage()
    zpool = await makeZpool(zfsDevice!)
  }, LIMIT_MS)
  afterAll(() => zpool?.remove(), LIMIT_MS)

  // A snapshot that changed its volume has no device.
  const opened = async (path: string) => {
    await appears(path.split('@')[0]!)
    if (!path.includes('@')) return { path, close: async () => {} }
    const copy = 'berthtest/copy'
    await zpool!.call('zfs', 'clone', path.slice('/dev/zvol/'.length), copy)
    await appears(`/dev/zvol/${copy}`)
    const close = () =>
      eventually(
        () =>
          zpool!.call('zfs', 'destroy', copy).then(
            () => true,
            () => false,
          ),
        30,
      )
    return { path: `/dev/zvol/${copy}`, close }
  }
  storageContract(() => rigOf(driver, image, undefined, opened, zfsBeside), { formats: ['raw'] })

  test(
    'a volume with snapshots of another panel stays where it is',
    async () => {
      const pool = new BlockPool('local', driver)
      await empty(pool)
      await zfsBeside.clear()
      const path = await zfsBeside.make(64 * MiB)
      await zpool!.call('zfs', 'snapshot', `${path.slice('/dev/zvol/'.length)}@daily`)
      await expect(pool.takeIn(volumeOf(1, 'raw'), path)).rejects.toMatchObject({ code: 'source_disk_has_snapshots' })
      expect([await zfsBeside.exists(path), await pool.list()]).toEqual([true, []])
      await zfsBeside.clear()
    },
    LIMIT_MS,
  )
})
