// The contract of a driver that copies disks from a source. The fake and the real one pass it.
import { expect, test } from 'bun:test'
import type { SourceCopies, SourceServers } from '../../../../agent/drivers/source-host/source-servers.ts'
import type { Pool } from '../../../../agent/drivers/storage/storage.ts'
import type { Input } from '../../../../agent/protocol/wire.ts'

/** The disk of a server that runs, and the place for it. */
export type Copied = Pick<Input<'source-host.copy'>, 'host' | 'domain' | 'drive' | 'volume' | 'sizeBytes'>
/**
 * `server`: makes a transient one that runs. `isSame`: the volume has the content that the server has at its source.
 * `write`: its guest has written to its disk, after the pass while it ran.
 */
export type CopiesRig = {
  copies: SourceCopies
  servers: SourceServers
  pool: Pool
  server(): Promise<Copied>
  write(copied: Copied): Promise<void>
  isSame(copied: Copied): Promise<boolean>
}

const GRACE_SECONDS = 30
let made = 0

export function copiesContract(rig: () => CopiesRig) {
  const begin = async () => {
    const { copies, pool, server, servers } = rig()
    const copied = await server()
    const copy = `imc_${String(++made).padStart(26, '0')}`
    return {
      copied,
      pass: (pass: 'running' | 'off') => copies.copy({ copy, maxMbps: null, ...copied, pass, pool }),
      off: async () => {
        await servers.save(copied)
        await servers.stop(copied, GRACE_SECONDS)
      },
      size: () => pool.sizeBytes(copied.volume),
      discard: () => copies.discard(copy, copied.volume, pool),
    }
  }

  test('two passes bring a server that runs first, each once, and discarding takes all of it away', async () => {
    const { copied, discard, off, pass, size } = await begin()
    const first = await pass('running')
    expect(await size()).toBeUndefined()
    expect(await pass('running')).toMatchObject({ totalBytes: first.totalBytes, blocks: first.blocks })
    await off()
    await rig().write(copied)
    const second = await pass('off')
    expect(second.changedBlocks).toBeGreaterThan(0)
    expect(second.changedBlocks).toBeLessThan(Math.max(2, first.changedBlocks / 2))
    expect(await size()).toBe(copied.sizeBytes)
    expect(await rig().isSame(copied)).toBeTrue()
    expect(await pass('off')).toEqual(second)
    await discard()
    await discard()
    expect(await size()).toBeUndefined()
  })

  test('the plain way brings a server that is off, and none that runs', async () => {
    const { copied, discard, off, pass, size } = await begin()
    expect(await pass('off').catch((error) => error)).toMatchObject({ code: 'source_started' })
    expect(await size()).toBeUndefined()
    await off()
    const { changedBlocks, copiedBytes } = await pass('off')
    expect(changedBlocks).toBeGreaterThan(0)
    expect(copiedBytes).toBeGreaterThan(0)
    expect(await rig().isSame(copied)).toBeTrue()
    await discard()
  })

  test('a volume of another origin is never written, nor deleted', async () => {
    const { copied, discard, off, pass, size } = await begin()
    const other = 1 << 20
    await off()
    await rig().pool.receive(copied.volume, other, async () => {})
    for (const which of ['running', 'off'] as const)
      expect(await pass(which).catch((error) => error)).toMatchObject({ code: 'volume_differs' })
    await discard()
    expect(await size()).toBe(other)
    await rig().pool.remove(copied.volume)
  })

  test('a disk of another size than was looked at is not copied', async () => {
    const { copied, discard, off, size } = await begin()
    await off()
    const drive = { ...copied.drive, virtualBytes: copied.drive.virtualBytes + 4096 }
    const { copies, pool } = rig()
    const copy = `imc_${String(++made).padStart(26, '0')}`
    const work = copies.copy({ copy, maxMbps: null, ...copied, drive, pass: 'off', pool })
    expect(await work.catch((error) => error)).toMatchObject({ code: 'source_disk_changed' })
    await copies.discard(copy, copied.volume, pool)
    expect(await size()).toBeUndefined()
    await discard()
  })
}
