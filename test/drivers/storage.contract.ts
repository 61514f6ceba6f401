import { expect, test } from 'bun:test'
import type { Image } from '../../agent/drivers/images/images.ts'
import type { Pool } from '../../agent/drivers/storage/storage.ts'
import { volumeOf } from '../agent/examples.ts'

const MiB = 2 ** 20

/** The tests that every kind of pool passes. */
export function storageContract(make: () => Promise<{ pool: Pool; image: Image }>) {
  for (const format of ['qcow2', 'raw'] as const) {
    test(`a ${format} disk is made from an image and grown to its size`, async () => {
      const { pool, image } = await make()
      await pool.create(volumeOf(1, format), image, 64 * MiB)
      expect(await pool.sizeBytes(volumeOf(1, format))).toBe(64 * MiB)
      expect(pool.disk(volumeOf(1, format)).format).toBe(format)
    })
  }
  test('creating a disk again changes nothing', async () => {
    const { pool, image } = await make()
    await pool.create(volumeOf(1), image, 64 * MiB)
    await pool.create(volumeOf(1), image, 64 * MiB)
    expect(await pool.list()).toEqual([volumeOf(1)])
  })
  test('an existing disk is never overwritten by a larger one', async () => {
    const { pool, image } = await make()
    await pool.create(volumeOf(1), image, 64 * MiB)
    expect(pool.create(volumeOf(1), image, 128 * MiB)).rejects.toMatchObject({ code: 'volume_differs' })
    expect(await pool.sizeBytes(volumeOf(1))).toBe(64 * MiB)
  })
  for (const format of ['qcow2', 'raw'] as const)
    test(`a ${format} disk grows once, and never shrinks`, async () => {
      const { pool, image } = await make()
      const volume = volumeOf(1, format)
      await pool.create(volume, image, 64 * MiB)
      await pool.grow(volume, 96 * MiB)
      await pool.grow(volume, 96 * MiB)
      await pool.grow(volume, 48 * MiB)
      expect(await pool.sizeBytes(volume)).toBe(96 * MiB)
      expect(pool.grow(volumeOf(2, format), 96 * MiB)).rejects.toMatchObject({ code: 'no_volume' })
    })
  test('a disk that does not exist has no size, and removing it succeeds', async () => {
    const { pool } = await make()
    expect(await pool.sizeBytes(volumeOf(2))).toBeUndefined()
    await pool.remove(volumeOf(2))
  })
  test('removing one disk leaves the others', async () => {
    const { pool, image } = await make()
    await pool.create(volumeOf(1), image, 64 * MiB)
    await pool.create(volumeOf(2), image, 64 * MiB)
    await pool.remove(volumeOf(1))
    expect(await pool.list()).toEqual([volumeOf(2)])
  })
  test('two generations of one workload are two disks', async () => {
    const { pool, image } = await make()
    const [old, next] = [volumeOf(1, 'qcow2', 9), volumeOf(1, 'qcow2', 10)]
    await pool.create(old, image, 48 * MiB)
    await pool.create(next, image, 64 * MiB)
    expect(pool.disk(old).path).not.toBe(pool.disk(next).path)
    expect(await pool.list()).toEqual([old, next])
    expect([await pool.sizeBytes(old), await pool.sizeBytes(next)]).toEqual([48 * MiB, 64 * MiB])
    await pool.remove(old)
    expect(await pool.list()).toEqual([next])
  })
  test('volumes of any kind of workload are listed', async () => {
    const { pool, image } = await make()
    const other = { ...volumeOf(1), workload: `gpu_${'z'.repeat(26)}` }
    await pool.create(other, image, 64 * MiB)
    await pool.create(volumeOf(1), image, 64 * MiB)
    expect(await pool.list()).toEqual([other, volumeOf(1)])
  })
  test('reports its capacity', async () => {
    const { pool } = await make()
    const capacity = await pool.capacity()
    expect(capacity).toMatchObject({ name: 'local' })
    expect(capacity.totalBytes).toBeGreaterThan(capacity.freeBytes - 1)
    expect(capacity.freeBytes).toBeGreaterThan(0)
  })
}
