import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FakePool } from '../../agent/drivers/storage/fake.ts'
import { FilePool } from '../../agent/drivers/storage/file.ts'
import { Storage } from '../../agent/drivers/storage/storage.ts'
import { run } from '../../agent/host/exec.ts'
import { openRealHost } from '../../agent/host/real-host.ts'
import { volumeOf } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { storageContract } from './storage.contract.ts'
import { missing, note } from './tools.ts'

const MiB = 2 ** 20

describe('a pool of the fake host', () => {
  storageContract(async () => ({
    pool: new FakePool(new Database(':memory:'), 'local', 2e12),
    image: { id: 'img_1', format: 'qcow2', path: '/fake', virtualSizeBytes: 32 * MiB },
  }))
})

describe.skipIf(note(await missing('qemu-img'), 'pools of files'))('a pool of files', () => {
  const make = async () => {
    const dir = temporary('pool')
    const path = join(dir, 'image.qcow2')
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', '--', path, String(32 * MiB)])
    return {
      dir,
      pool: new FilePool('local', join(dir, 'pool')),
      image: { id: 'img_1', format: 'qcow2' as const, path, virtualSizeBytes: 32 * MiB },
    }
  }
  storageContract(make)

  test('has a directory that the hypervisor’s user can pass through and not list', async () => {
    const { dir } = await make()
    expect(statSync(join(dir, 'pool')).mode & 0o777).toBe(0o711)
  })
  test('a disk that a crash left unfinished is not listed and is replaced by the next attempt', async () => {
    const { dir, pool, image } = await make()
    const part = join(dir, 'pool', `${volumeOf(1).workload}-0.qcow2.part`)
    writeFileSync(part, 'half')
    expect(await pool.list()).toEqual([])
    expect(await pool.sizeBytes(volumeOf(1))).toBeUndefined()
    await pool.create(volumeOf(1), image, 64 * MiB)
    expect(existsSync(part)).toBe(false)
    expect(await pool.list()).toEqual([volumeOf(1)])
  })
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

test('the hypervisor’s user can reach the disks of a node whatever the agent’s umask is', () => {
  const before = process.umask(0o077)
  const dir = temporary('host')
  openRealHost(dir).close()
  process.umask(before)
  for (const way of ['pools', 'pools/local', 'seeds']) expect(statSync(join(dir, way)).mode & 0o777).toBe(0o711)
  expect(statSync(join(dir, 'images')).mode & 0o777).toBe(0o700)
  expect(statSync(join(dir, 'state.db')).mode & 0o777).toBe(0o600)
})
