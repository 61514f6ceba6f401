import { expect, test } from 'bun:test'
import type { Image } from '../../agent/drivers/images/images.ts'
import { atLayer, type Disk, type Pool } from '../../agent/drivers/storage/storage.ts'
import type { Volume } from '../../agent/protocol/wire.ts'
import { volumeOf as anyVolumeOf } from '../agent/examples.ts'
import { eventually } from '../support/waiting/eventually.ts'

const MiB = 2 ** 20

/**
 * A pool, an image for it, and ways to write one character to the beginning of a disk and to read it again. `io`: runs
 * commands of qemu-io on the disk, which a fake one does not have. `contentOf`: all its bytes. `outside`: makes a disk
 * beside the pool on the same storage, which begins with the character; `exists`: whether one is at a path; a pool
 * without them takes no disk in. `elsewhere`: the path of a disk on other storage.
 */
export type StorageRig = {
  pool: Pool
  image: Image
  write(disk: Disk, character: string): Promise<void>
  read(disk: Disk): Promise<string>
  io?(disk: Disk, commands: readonly string[]): Promise<unknown>
  contentOf?(disk: Disk): Promise<Buffer>
  outside?(character: string, sizeBytes: number, format: Volume['format']): Promise<string>
  exists?(path: string): Promise<boolean>
  elsewhere(format: Volume['format']): Promise<string>
}
/** `formats`: of its disks. `independent`: no layer needs another one. `fake`: a disk has a text and no bytes. */
type Kind = { formats: readonly Volume['format'][]; independent?: boolean; fake?: boolean }

/** The tests that every kind of pool passes. */
export function storageContract(make: () => Promise<StorageRig>, { formats, independent = false, fake = false }: Kind) {
  const volumeOf = (n: number, format = formats[0]!, generation = 0) => anyVolumeOf(n, format, generation)
  for (const format of formats) {
    test(`a ${format} disk is made from an image and grown to its size`, async () => {
      const { pool, image, read } = await make()
      await pool.create(volumeOf(1, format), image, 64 * MiB)
      expect(await pool.sizeBytes(volumeOf(1, format))).toBe(64 * MiB)
      const disk = await pool.disk(volumeOf(1, format))
      expect(disk.format).toBe(format)
      expect(await read(disk)).toBe('i')
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
  for (const format of formats)
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
  test('a disk that something else fills is there when that is done, and never when it fails', async () => {
    const { pool, write, read } = await make()
    const refused = pool.receive(volumeOf(1), 64 * MiB, async (disk) => {
      await write(disk, 'x')
      throw new Error('the source broke off')
    })
    await expect(refused).rejects.toThrow('the source broke off')
    expect([await pool.sizeBytes(volumeOf(1)), await pool.list()]).toEqual([undefined, []])
    for (const content of ['r', 's']) await pool.receive(volumeOf(1), 64 * MiB, (disk) => write(disk, content))
    expect(await read(await pool.disk(volumeOf(1)))).toBe('r')
    expect(await pool.list()).toEqual([volumeOf(1)])
    await expect(pool.receive(volumeOf(1), 96 * MiB, async () => {})).rejects.toMatchObject({ code: 'volume_differs' })
  })
  for (const format of formats)
    test(`an empty ${format} disk shows zeros, also where another one had its data`, async () => {
      const { pool, write, read } = await make()
      const [before, after] = [volumeOf(1, format), volumeOf(2, format)]
      for (const volume of [before, after]) await pool.receive(volume, 64 * MiB, async () => {})
      for (const volume of [before, after]) expect(await read(await pool.disk(volume))).toBe('\0')
      for (const volume of [before, after]) await write(await pool.disk(volume), 'x')
      for (const volume of [before, after]) await pool.remove(volume)
      // The same name and another one.
      for (const volume of [before, volumeOf(3, format)]) {
        await pool.receive(volume, 64 * MiB, async () => {})
        await pool.receive(volume, 64 * MiB, async () => {})
        expect(await read(await pool.disk(volume))).toBe('\0')
      }
    })
  for (const format of formats) {
    const volume = volumeOf(1, format)
    /** The pool with a disk beside it. */
    const beside = async () => {
      const rig = await make()
      const { outside, exists } = rig
      if (!outside || !exists) return undefined
      const from = await outside('o', 64 * MiB, format)
      const seen = async () => ({ isOutside: await exists(from), sizeBytes: await rig.pool.sizeBytes(volume) })
      return { ...rig, from, seen, outside }
    }
    const taken = { isOutside: false, sizeBytes: 64 * MiB }
    const outsideOnly = { isOutside: true, sizeBytes: undefined }

    test(`a ${format} disk beside the pool becomes a volume as it is, lives as others do, and goes back`, async () => {
      const rig = await beside()
      if (!rig) return
      const { from, pool, read, seen, write } = rig
      expect(await seen()).toEqual(outsideOnly)
      for (const _ of [1, 2]) await pool.takeIn(volume, from)
      expect(await seen()).toEqual(taken)
      expect(await read(await pool.disk(volume))).toBe('o')
      expect(await pool.list()).toEqual([volume])
      await write(await pool.disk(volume), 'w')
      for (const _ of [1, 2]) await pool.giveBack(volume, from)
      expect([await seen(), await pool.list()]).toEqual([outsideOnly, []])
      await pool.takeIn(volume, from)
      expect(await read(await pool.disk(volume))).toBe('w')
      await pool.grow(volume, 96 * MiB)
      await pool.fork({ ...volume, layer: 1 }, 0, 96 * MiB)
      await expect(pool.giveBack({ ...volume, layer: 1 }, from)).rejects.toMatchObject({ code: 'layer_in_use' })
      await pool.merge(volume, 1, 0)
      await pool.removeLayer(volume, 1)
      await pool.giveBack(volume, from)
      expect(await seen()).toEqual(outsideOnly)
      await pool.takeIn(volume, from)
      await pool.remove(volume)
      expect(await seen()).toEqual({ isOutside: false, sizeBytes: undefined })
    })
    test(`a ${format} disk is neither taken in over a volume nor given back over a disk`, async () => {
      const rig = await beside()
      if (!rig) return
      const { from, pool, read, seen, outside } = rig
      await pool.receive(volume, 64 * MiB, async () => {})
      await expect(pool.takeIn(volume, from)).rejects.toMatchObject({ code: 'volume_differs' })
      await expect(pool.giveBack(volume, from)).rejects.toMatchObject({ code: 'volume_differs' })
      expect(await seen()).toEqual({ isOutside: true, sizeBytes: 64 * MiB })
      expect(await read(await pool.disk(volume))).toBe('\0')
      const other = volumeOf(2, format)
      await pool.takeIn(other, from)
      expect(await outside('n', 64 * MiB, format)).toBe(from)
      await expect(pool.giveBack(other, from)).rejects.toMatchObject({ code: 'volume_differs' })
      expect(await read(await pool.disk(other))).toBe('o')
      await pool.remove(other)
      await pool.takeIn(other, from)
      expect(await read(await pool.disk(other))).toBe('n')
    })
    test(`a ${format} disk that is gone, or on other storage, is not taken in`, async () => {
      const rig = await make()
      const elsewhere = await rig.elsewhere(format)
      await expect(rig.pool.takeIn(volume, elsewhere)).rejects.toMatchObject({ code: 'source_disk_elsewhere' })
      expect(await rig.pool.list()).toEqual([])
      await rig.pool.receive(volume, 64 * MiB, async () => {})
      await expect(rig.pool.giveBack(volume, elsewhere)).rejects.toMatchObject({
        code: expect.stringMatching(/^(source_disk_elsewhere|volume_differs)$/),
      })
      expect(await rig.pool.list()).toEqual([volume])
      const { outside } = rig
      if (!outside) return
      const gone = await outside('o', 64 * MiB, format)
      const other = volumeOf(2, format)
      await rig.pool.takeIn(other, gone)
      await rig.pool.remove(other)
      await expect(rig.pool.takeIn(other, gone)).rejects.toMatchObject({ code: 'no_volume' })
      await expect(rig.pool.giveBack(other, gone)).rejects.toMatchObject({ code: 'no_volume' })
    })
  }
  test('removing one disk leaves the others', async () => {
    const { pool, image } = await make()
    await pool.create(volumeOf(1), image, 64 * MiB)
    await pool.create(volumeOf(2), image, 64 * MiB)
    await pool.remove(volumeOf(1))
    expect(await pool.list()).toEqual([volumeOf(2)])
  })
  test('two generations of one workload are two disks', async () => {
    const { pool, image } = await make()
    const [old, next] = [volumeOf(1, formats[0], 9), volumeOf(1, formats[0], 10)]
    await pool.create(old, image, 48 * MiB)
    await pool.create(next, image, 64 * MiB)
    expect((await pool.disk(old)).path).not.toBe((await pool.disk(next)).path)
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
  /** A disk with `a`, which is a snapshot under layer 1 with `b`, which is one under layer 2 with `c`. */
  const layered = async (format: Volume['format']) => {
    const rig = await make()
    const { pool, image, write } = rig
    const base = volumeOf(1, format)
    await pool.create(base, image, 64 * MiB)
    await write(await pool.disk(base), 'a')
    for (const [layer, content] of [[1, 'b'] as const, [2, 'c'] as const]) {
      await pool.fork(atLayer(base, layer), layer - 1, 64 * MiB)
      await write(await pool.disk(atLayer(base, layer)), content)
    }
    const at = async (...layers: number[]) => {
      let all = ''
      for (const layer of layers) all += await rig.read(await pool.disk(atLayer(base, layer)))
      return all
    }
    /** As `volume.merge` does it. */
    const mergeAway = async (from: number, into: number) => {
      if ((await pool.sizeBytes(atLayer(base, from))) !== undefined) {
        await pool.merge(base, from, into)
        await pool.rebase(base, from, into, [])
      }
      await pool.removeLayer(base, from)
    }
    return { ...rig, base, at, mergeAway }
  }
  for (const format of formats) {
    test(`layers of a ${format} disk have what was there when they were made, and go with their disk`, async () => {
      const { pool, base, at } = await layered(format)
      expect(await at(0, 1, 2)).toBe('abc')
      await pool.fork(atLayer(base, 1), 0, 64 * MiB)
      expect(await at(0, 1, 2)).toBe('abc')
      expect(await pool.list()).toEqual([base])
      expect(await pool.usedBytes(atLayer(base, 1))).toBeGreaterThan(0)
      await pool.remove(atLayer(base, 2))
      expect(await pool.list()).toEqual([])
      expect(await Promise.all([0, 1, 2].map((layer) => pool.sizeBytes(atLayer(base, layer))))).toEqual(
        Array(3).fill(undefined),
      )
      expect(pool.fork(atLayer(base, 1), 0, MiB)).rejects.toMatchObject({ code: 'no_volume' })
    })
    test(`a snapshot of a ${format} disk comes back beside what was written since`, async () => {
      const { pool, base, at, write } = await layered(format)
      await pool.fork(atLayer(base, 3), 0, 64 * MiB)
      expect(await at(3)).toBe('a')
      await write(await pool.disk(atLayer(base, 3)), 'd')
      expect(await at(0, 1, 2, 3)).toBe('abcd')
      if (!independent)
        for (const layer of [0, 1])
          await expect(pool.removeLayer(base, layer)).rejects.toMatchObject({ code: 'layer_in_use' })
      for (const layer of [2, 2, 1]) await pool.removeLayer(base, layer)
      expect(await at(0, 3)).toBe('ad')
    })
    test(`merging the newest layer of a ${format} disk keeps its content, and doing it twice is the same`, async () => {
      const { pool, base, at, mergeAway } = await layered(format)
      for (const _ of [1, 2]) await mergeAway(2, 1)
      expect(await at(0, 1)).toBe('ac')
      await expect(pool.merge(base, 2, 1)).rejects.toMatchObject({ code: 'no_volume' })
    })
    test(`merging a middle layer of a ${format} disk keeps what stands on it`, async () => {
      const { pool, base, at, mergeAway } = await layered(format)
      await pool.fork(atLayer(base, 3), 1, 64 * MiB)
      for (const _ of [1, 2]) await mergeAway(1, 0)
      expect(await at(0, 2, 3)).toBe('bcb')
    })
    test(`a ${format} disk that grew above its snapshot stays large when the two are merged`, async () => {
      const { pool, base, at, mergeAway } = await layered(format)
      await pool.grow(atLayer(base, 2), 96 * MiB)
      expect(await pool.sizeBytes(atLayer(base, 1))).toBe(64 * MiB)
      await mergeAway(2, 1)
      await mergeAway(1, 0)
      expect([await pool.sizeBytes(base), await at(0)]).toEqual([96 * MiB, 'c'])
    })
  }
  for (const format of formats)
    test(`a ${format} disk that went back to a snapshot twice keeps its states until its end`, async () => {
      const { pool, base, at, write, mergeAway } = await layered(format)
      // Back to the first snapshot, another one there, and back to that.
      await pool.fork(atLayer(base, 3), 0, 64 * MiB)
      await pool.removeLayer(base, 2)
      await write(await pool.disk(atLayer(base, 3)), 'd')
      await pool.fork(atLayer(base, 4), 3, 64 * MiB)
      await write(await pool.disk(atLayer(base, 4)), 'e')
      await pool.fork(atLayer(base, 5), 3, 96 * MiB)
      await pool.removeLayer(base, 4)
      expect(await at(0, 1, 3, 5)).toBe('abdd')
      await write(await pool.disk(atLayer(base, 5)), 'f')
      await pool.removeLayer(base, 1)
      await mergeAway(3, 0)
      expect(await at(0, 5)).toBe('df')
      await mergeAway(5, 0)
      expect([await at(0), await pool.sizeBytes(base)]).toEqual(['f', 96 * MiB])
      expect(await pool.list()).toEqual([base])
      await pool.remove(base)
      expect(await pool.list()).toEqual([])
    })
  for (const format of fake ? [] : formats) {
    const size = 64 * MiB
    const empty = async (n: number) => {
      const { pool, io, contentOf } = await make()
      await pool.receive(volumeOf(n, format), size, async () => {})
      const disk = await pool.disk(volumeOf(n, format))
      return { pool, disk, volume: volumeOf(n, format), io: io!, contentOf: contentOf! }
    }
    test(`a new ${format} disk shows nothing of one that is gone, also where it is written in part`, async () => {
      const { pool, disk, volume, io } = await empty(1)
      await io(disk, [`write -P 90 0 ${size}`])
      await pool.remove(volume)
      const { disk: next, ...other } = await empty(1)
      const parts = Array.from({ length: size / (64 << 10) }, (_, at) => `write -q -P 1 ${at * (64 << 10)} 512`)
      await other.io(next, ['write -q -P 1 0 512', ...parts])
      const content = await other.contentOf(next)
      expect([content.length, content.includes(Buffer.alloc(512, 90))]).toEqual([size, false])
    }, 600_000)
    test(`a ${format} disk that grows keeps its content and shows zeros behind it`, async () => {
      const { pool, disk, volume, io, contentOf } = await empty(1)
      await io(disk, [`write -P 90 0 ${size}`])
      await pool.grow(volume, 96 * MiB)
      const content = await contentOf(disk)
      const [before, behind] = [content.subarray(0, size), content.subarray(size)]
      expect([before.equals(Buffer.alloc(size, 90)), behind.equals(Buffer.alloc(32 * MiB))]).toEqual([true, true])
    }, 600_000)
    test(`what is discarded of a ${format} disk takes no space`, async () => {
      const { pool, disk, volume, io } = await empty(1)
      await io(disk, [`write -P 90 0 ${size}`])
      const used = () => pool.usedBytes(volume)
      // ZFS counts some seconds later.
      await eventually(async () => (await used()) > 0, 30)
      const before = await used()
      await io(disk, [`discard 0 ${size}`])
      await eventually(async () => (await used()) < Math.min(before, 2 * MiB), 30)
      expect(await used()).toBeLessThan(Math.min(before, 2 * MiB))
    }, 600_000)
  }
  test('reports its capacity', async () => {
    const { pool } = await make()
    const capacity = await pool.capacity()
    expect(capacity).toMatchObject({ name: 'local' })
    expect(capacity.totalBytes).toBeGreaterThan(capacity.freeBytes - 1)
    expect(capacity.freeBytes).toBeGreaterThan(0)
  })
}
