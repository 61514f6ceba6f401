import { Database } from 'bun:sqlite'
import { describe, expect, onTestFinished, test } from 'bun:test'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { FakePool } from '../../agent/drivers/storage/fake.ts'
import { FakeLayers } from '../../agent/drivers/storage/fake-layers.ts'
import { FilePool } from '../../agent/drivers/storage/file.ts'
import { type Disk, Storage } from '../../agent/drivers/storage/storage.ts'
import { run } from '../../agent/host/exec.ts'
import { openRealHost } from '../../agent/host/real-host.ts'
import type { Volume } from '../../agent/protocol/wire.ts'
import { volumeOf } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { contentOf, qemuIo, qemuIoAll, readCharacter } from './blocks/rig.ts'
import { storageContract } from './storage.contract.ts'
import { missing, note } from './tools.ts'

const MiB = 2 ** 20

const fileFormats = { formats: ['qcow2', 'raw'] } as const

describe('a pool of the fake host', () => {
  storageContract(
    async () => {
      const db = new Database(':memory:')
      const layers = new FakeLayers(db)
      const imageOf = (path: string) =>
        db.query<{ image: string }, [string]>('select image from volumes where path = ?').get(path)?.image
      const pool = new FakePool(db, 'local', 2e12)
      const placed = { path: '/source/disk', sizeBytes: 64 * MiB }
      const rows = db.query<{ n: number }, [string]>('select count(*) n from outside_disks where path = ?')
      return {
        pool,
        async outside(content, sizeBytes, format) {
          pool.placeDisk({ ...placed, content, sizeBytes, format })
          return placed.path
        },
        exists: async (path) => rows.get(path)!.n > 0,
        async elsewhere(format) {
          pool.placeDisk({ ...placed, path: '/other/disk', format, isInReach: false })
          return '/other/disk'
        },
        image: { id: 'img_1', format: 'qcow2', path: '/fake', virtualSizeBytes: 32 * MiB },
        write: async ({ path }, character) => layers.write(path, character),
        // The fake does not copy the image.
        read: async ({ path }) => layers.read(path) ?? (imageOf(layers.chain(path).at(-1)!) ? 'i' : '\0'),
      }
    },
    { ...fileFormats, fake: true },
  )
})

describe.skipIf(note(await missing('qemu-img'), 'pools of files'))('a pool of files', () => {
  const make = async () => {
    const dir = temporary('pool')
    const path = join(dir, 'image.qcow2')
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, String(32 * MiB)])
    await onDisk({ path, format: 'qcow2' }, 'write -P 105 0 64k')
    return {
      dir,
      pool: new FilePool('local', join(dir, 'pool')),
      image: { id: 'img_1', format: 'qcow2' as const, path, virtualSizeBytes: 32 * MiB },
    }
  }
  const onDisk = ({ path, format }: Pick<Disk, 'path' | 'format'>, command: string, ...args: string[]) =>
    qemuIo(format, path, command, ...args)
  storageContract(async () => {
    const made = await make()
    return {
      ...made,
      outside: (character, sizeBytes, format) => sourceDisk(made.dir, character, sizeBytes, format),
      exists: async (path) => existsSync(path),
      async elsewhere(format) {
        // tmpfs.
        const path = join(mkdtempSync('/dev/shm/berth-test-'), 'disk')
        onTestFinished(() => rmSync(dirname(path), { recursive: true }))
        await run('qemu-img', ['create', '-q', '-f', format, '--', path, String(64 * MiB)])
        return path
      },
      write: async (disk, character) => void (await onDisk(disk, `write -P ${character.charCodeAt(0)} 0 64k`)),
      read: ({ format, path }) => readCharacter(path, format),
      io: ({ format, path }, commands) => qemuIoAll(format, path, commands),
      contentOf: ({ format, path }) => contentOf(format, path),
    }
  }, fileFormats)
  /** A disk in a folder of another panel. */
  const sourceDisk = async (dir: string, character: string, sizeBytes: number, format: Volume['format']) => {
    const path = join(dir, 'source/41/0')
    mkdirSync(dirname(path), { recursive: true })
    await run('qemu-img', ['create', '-q', '-f', format, '--', path, String(sizeBytes)])
    await onDisk({ path, format }, `write -P ${character.charCodeAt(0)} 0 64k`)
    return path
  }

  test('a disk behind a link is taken in itself, and the link leads to it again when it is given back', async () => {
    const { dir, pool } = await make()
    const path = await sourceDisk(dir, 'o', 64 * MiB, 'qcow2')
    const before = readFileSync(path)
    const ways = [join(dir, 'link'), join(dir, 'source/folder-link/0')]
    symlinkSync('source/41/0', ways[0]!)
    symlinkSync('41', dirname(ways[1]!))
    for (const way of ways) {
      await pool.takeIn(volumeOf(1), way)
      expect([existsSync(path), await pool.sizeBytes(volumeOf(1))]).toEqual([false, 64 * MiB])
      await pool.giveBack(volumeOf(1), way)
      expect(readFileSync(path).equals(before)).toBe(true)
      expect(readFileSync(way).equals(before)).toBe(true)
    }
  })
  test('a file that a crash left with both names loses the old one, in each direction', async () => {
    const { dir, pool } = await make()
    const path = await sourceDisk(dir, 'o', 64 * MiB, 'raw')
    const volume = volumeOf(1, 'raw')
    await pool.list()
    linkSync(path, (await pool.disk(volume)).path)
    await pool.takeIn(volume, path)
    expect([existsSync(path), await pool.list()]).toEqual([false, [volume]])
    linkSync((await pool.disk(volume)).path, path)
    await pool.giveBack(volume, path)
    expect([existsSync(path), await pool.list()]).toEqual([true, []])
    rmSync(dirname(path), { recursive: true })
    const second = await sourceDisk(dir, 'p', 64 * MiB, 'raw')
    await pool.takeIn(volume, second)
    rmSync(dirname(second), { recursive: true })
    await pool.giveBack(volume, second)
    expect(existsSync(second)).toBe(true)
  })
  test('a file that continues another one, or holds snapshots, stays where it is', async () => {
    const { dir, pool, image } = await make()
    const path = await sourceDisk(dir, 'o', 64 * MiB, 'qcow2')
    await run('qemu-img', ['snapshot', '-c', 'one', '--', path])
    await expect(pool.takeIn(volumeOf(1), path)).rejects.toMatchObject({ code: 'image_refused' })
    rmSync(path)
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', image.path, '--', path])
    await expect(pool.takeIn(volumeOf(1), path)).rejects.toMatchObject({ code: 'image_refused' })
    expect([existsSync(path), await pool.list()]).toEqual([true, []])
  })

  test('has a directory that the hypervisor’s user can pass through and not list', async () => {
    const { dir, pool } = await make()
    await pool.list()
    expect(statSync(join(dir, 'pool')).mode & 0o777).toBe(0o711)
  })
  test('a disk that a crash left unfinished is not listed and is replaced by the next attempt', async () => {
    const { dir, pool, image } = await make()
    const part = join(dir, 'pool', `${volumeOf(1).workload}-0.qcow2.part`)
    expect(await pool.list()).toEqual([])
    writeFileSync(part, 'half')
    expect(await pool.list()).toEqual([])
    expect(await pool.sizeBytes(volumeOf(1))).toBeUndefined()
    await pool.create(volumeOf(1), image, 64 * MiB)
    expect(existsSync(part)).toBe(false)
    expect(await pool.list()).toEqual([volumeOf(1)])
  })
  // The header is read before an image is stored; these are what a mistake there would let through.
  test.skipIf(process.getuid!() !== 0)(
    'S39: an image that names a file of the node opens nothing, although the agent is root',
    async () => {
      const { dir, pool, image } = await make()
      const secret = join(dir, 'secret')
      writeFileSync(secret, 'x'.repeat(MiB), { mode: 0o600 })
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', secret, '--', image.path])
      expect(pool.create(volumeOf(1), image, 64 * MiB)).rejects.toMatchObject({
        code: 'tool_failed',
        message: expect.stringContaining('Permission denied'),
      })
      expect(await pool.list()).toEqual([])
    },
  )
  test('S39: an image that grows beyond the disk it claims is ended at its limit', async () => {
    const { dir, pool } = await make()
    const path = join(dir, 'bomb.raw')
    writeFileSync(path, Buffer.alloc(160 * MiB, 1))
    const lie = { id: 'img_1', format: 'raw' as const, path, virtualSizeBytes: 32 * MiB }
    await expect(pool.create(volumeOf(1), lie, 64 * MiB)).rejects.toMatchObject({ code: 'tool_failed' })
    expect(await pool.list()).toEqual([])
    expect(statSync(join(dir, 'pool', `${volumeOf(1).workload}-0.qcow2.part`)).size).toBeLessThan(140 * MiB)
    await pool.remove(volumeOf(1))
  })
  test.skipIf(process.getuid!() !== 0)(
    'S39: a finished disk belongs to root, and its image to no other user',
    async () => {
      const { dir, pool, image } = await make()
      await pool.create(volumeOf(1), image, 64 * MiB)
      const { uid, gid, mode } = statSync(join(dir, 'pool', `${volumeOf(1).workload}-0.qcow2`))
      expect([uid, gid, mode & 0o777]).toEqual([0, 0, 0o600])
      expect(statSync(image.path).mode & 0o777).toBe(0o640)
    },
  )
  test('files that are no volumes are not listed', async () => {
    const { dir, pool, image } = await make()
    await pool.create(volumeOf(1), image, 64 * MiB)
    for (const name of [
      'lost+found',
      `${volumeOf(2).workload}.qcow2`,
      `copy-of-${volumeOf(2).workload}-0.qcow2`,
      'notes-1.raw',
    ])
      writeFileSync(join(dir, 'pool', name), '')
    expect(await pool.list()).toEqual([volumeOf(1)])
  })
})

test('a pool that the node does not have is refused with its name', () => {
  expect(() => new Storage([]).pool('fast')).toThrow('this node has no pool fast')
})

test('the hypervisor’s user can reach the disks of a node whatever the agent’s umask is', async () => {
  const before = process.umask(0o077)
  const dir = temporary('host')
  const host = openRealHost(dir)
  await host.storage.capacities()
  host.close()
  process.umask(before)
  for (const way of ['pools', 'pools/local', 'seeds']) expect(statSync(join(dir, way)).mode & 0o777).toBe(0o711)
  expect(statSync(join(dir, 'images')).mode & 0o777).toBe(0o700)
  expect(statSync(join(dir, 'state.db')).mode & 0o777).toBe(0o600)
})
