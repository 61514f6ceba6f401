import { describe, expect, test } from 'bun:test'
import type { Bond } from '../../../agent/drivers/storage/block-layers.ts'
import { BlockPool } from '../../../agent/drivers/storage/block-pool.ts'
import { atLayer } from '../../../agent/drivers/storage/storage.ts'
import { volumeOf } from '../../agent/examples.ts'
import { storageContract } from '../storage.contract.ts'
import { FakeBlocks } from './fake-blocks.ts'

const MiB = 2 ** 20
const image = { id: 'img_1', format: 'qcow2' as const, path: '/fake', virtualSizeBytes: 32 * MiB }
const base = volumeOf(1, 'raw')
const bonds: readonly Bond[] = ['none', 'promote', 'flatten']

async function rig(bond: Bond) {
  const driver = new FakeBlocks(bond)
  const pool = new BlockPool('local', driver)
  const at = async (...layers: number[]) =>
    (await Promise.all(layers.map(async (n) => driver.read((await pool.disk(atLayer(base, n))).path)))).join('')
  const write = async (layer: number, content: string) =>
    driver.write((await pool.disk(atLayer(base, layer))).path, content)
  const mergeAway = async (from: number, into: number) => {
    if ((await pool.sizeBytes(atLayer(base, from))) !== undefined) await pool.merge(base, from, into)
    await pool.removeLayer(base, from)
  }
  return { driver, pool, at, write, mergeAway }
}

for (const bond of bonds)
  describe(`a pool of devices whose snapshots have the bond ${bond}`, () => {
    storageContract(
      async () => {
        const { driver, pool } = await rig(bond)
        return {
          pool,
          image,
          write: async ({ path }, character) => driver.write(path, character),
          read: async ({ path }) => driver.read(path),
          async outside(content, sizeBytes) {
            driver.beside.set('/beside/disk', { sizeBytes, content })
            return '/beside/disk'
          },
          exists: async (path) => driver.beside.has(path),
          elsewhere: async () => '/other/disk',
        }
      },
      { formats: ['raw'], independent: bond === 'none', fake: true },
    )

    test('a snapshot leaves the device of a vm as it is', async () => {
      const { pool } = await rig(bond)
      await pool.create(base, image, 64 * MiB)
      const before = await pool.disk(base)
      await pool.fork(atLayer(base, 1), 0, 64 * MiB)
      expect(await pool.disk(atLayer(base, 1))).toEqual(before)
      expect((await pool.disk(base)).path).not.toBe(before.path)
      await pool.merge(base, 1, 0)
      expect(await pool.disk(base)).toEqual(before)
    })

    test('a change that ends after any command is finished by the same call again', async () => {
      type Rig = Awaited<ReturnType<typeof rig>>
      /** The life of a disk, of which each step is tried again until it succeeds. */
      const steps: ((rigged: Rig) => Promise<unknown>)[] = [
        ({ pool }) => pool.create(base, image, 64 * MiB),
        ({ pool }) => pool.fork(atLayer(base, 1), 0, 64 * MiB),
        ({ write }) => write(1, 'b'),
        ({ pool }) => pool.fork(atLayer(base, 2), 1, 64 * MiB),
        ({ write }) => write(2, 'c'),
        // Back to the first snapshot, larger, without what was written since.
        ({ pool }) => pool.fork(atLayer(base, 3), 0, 96 * MiB),
        ({ pool }) => pool.removeLayer(base, 2),
        ({ write }) => write(3, 'd'),
        ({ pool }) => pool.fork(atLayer(base, 4), 3, 96 * MiB),
        ({ write }) => write(4, 'e'),
        ({ pool }) => pool.fork(atLayer(base, 5), 1, 96 * MiB),
        ({ pool }) => pool.removeLayer(base, 4),
      ]
      const ends: ((rigged: Rig) => Promise<unknown>)[] = [
        ({ mergeAway }) => mergeAway(5, 1),
        ({ pool }) => pool.removeLayer(base, 3),
        ({ mergeAway }) => mergeAway(1, 0),
      ]
      for (let killedAt = 0, killed = true; killed; killedAt++) {
        killed = false
        const rigged = await rig(bond)
        rigged.driver.commandsLeft = killedAt
        const play = async (what: typeof steps) => {
          for (const step of what)
            await step(rigged).catch((error) => {
              if (error.message !== 'killed') throw error
              killed = true
              rigged.driver.commandsLeft = Number.POSITIVE_INFINITY
              return step(rigged)
            })
        }
        await play(steps)
        expect(await rigged.at(0, 1, 3, 5)).toBe('ibdb')
        await play(ends)
        expect([await rigged.at(0), await rigged.pool.sizeBytes(base)]).toEqual(['b', 96 * MiB])
        expect(await rigged.driver.names()).toHaveLength(1)
        await play([({ pool }) => pool.remove(base)])
        expect(await rigged.driver.names()).toEqual([])
      }
    })

    test('a snapshot that is taken back after any command leaves the disk as it was', async () => {
      for (let killedAt = 0; killedAt < 4; killedAt++) {
        const { driver, pool, at, write, mergeAway } = await rig(bond)
        await pool.create(base, image, 64 * MiB)
        driver.commandsLeft = killedAt
        await pool.fork(atLayer(base, 1), 0, 64 * MiB).catch(() => {})
        driver.commandsLeft = Number.POSITIVE_INFINITY
        await write((await pool.sizeBytes(atLayer(base, 1))) === undefined ? 0 : 1, 'x')
        await mergeAway(1, 0)
        expect([await at(0), await driver.names()]).toEqual(['x', [expect.any(String)]])
      }
    })

    test('a pool that is nearly full takes no new disks and snapshots, and keeps those that it has', async () => {
      const { driver, pool } = await rig(bond)
      await pool.create(base, image, 64 * MiB)
      driver.fullPercent = 90
      await expect(pool.create(volumeOf(2, 'raw'), image, 64 * MiB)).rejects.toMatchObject({ code: 'pool_full' })
      await expect(pool.fork(atLayer(base, 1), 0, 64 * MiB)).rejects.toMatchObject({ code: 'pool_full' })
      await pool.create(base, image, 64 * MiB)
      await pool.grow(base, 96 * MiB)
      expect(await pool.list()).toEqual([base])
    })
  })
