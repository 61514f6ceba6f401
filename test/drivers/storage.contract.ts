import { expect, test } from 'bun:test'
import type { Image } from '../../agent/drivers/images/images.ts'
import type { Pool } from '../../agent/drivers/storage/storage.ts'
import { volumeOf } from '../agent/examples.ts'

const MiB = 2 ** 20

/** What every kind of pool keeps. */
export function storageContract(make: () => Promise<{ pool: Pool; image: Image }>) {
  for (const format of ['qcow2', 'raw'] as const) {
    test(`a ${format} disk is made from an image and grown to its size`, async () => {
      const { pool, image } = await make()
      await pool.create(volumeOf(1, format), image, 64 * MiB)
      expect(await pool.sizeBytes(volumeOf(1, format))).toBe(64 * MiB)
      expect(pool.disk(volumeOf(1, format)).format).toBe(format)
    })
  }
  test('making it again changes nothing', async () => {
    const { pool, image } = await make()
    await pool.create(volumeOf(1), image, 64 * MiB)
    await pool.create(volumeOf(1), image, 64 * MiB)
    expect(await pool.list()).toEqual([volumeOf(1)])
  })
  test('a disk that is not there has no size, and removing it is fine', async () => {
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
  test('says how much room there is', async () => {
    const { pool } = await make()
    const room = await pool.room()
    expect(room).toMatchObject({ name: 'local' })
    expect(room.totalBytes).toBeGreaterThan(room.freeBytes - 1)
    expect(room.freeBytes).toBeGreaterThan(0)
  })
}
