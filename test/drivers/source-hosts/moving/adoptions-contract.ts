// The contract of adoptions on a node that is the hypervisor of another panel. The fake and the real one pass it.
import { expect, test } from 'bun:test'
import type { Adoptions, SourceServers } from '../../../../agent/drivers/source-host/source-servers.ts'
import type { Pool } from '../../../../agent/drivers/storage/storage.ts'
import type { SourceDisk } from '../../../../agent/protocol/values/source-hosts.ts'
import type { Volume } from '../../../../agent/protocol/wire.ts'

/** A server that runs, with the volume that its disk is to be. `content`: of its disk, wherever that is now. */
export type Adoptee = { domain: string; drive: SourceDisk; volume: Volume }
export type AdoptionsRig = {
  node: Adoptions
  servers: SourceServers
  pool: Pool
  server(kind: 'transient' | 'persistent'): Promise<Adoptee>
  /** `running`, `off` or `absent`. */
  state(domain: string): Promise<string>
  content(one: Adoptee): Promise<string>
  /** Whether there is a disk at its place at the source. */
  isAtSource(one: Adoptee): Promise<boolean>
  /** The other panel starts it again. */
  power(domain: string): Promise<void>
}

const MiB = 2 ** 20

export function adoptionsContract(rig: () => AdoptionsRig) {
  const offServer = async (kind: 'transient' | 'persistent') => {
    const { pool, servers, server, isAtSource, state } = rig()
    const one = await server(kind)
    const of = { host: null, domain: one.domain }
    const { definition } = await servers.save(of)
    await servers.stop(of, 30)
    const seen = async () => ({
      isAtSource: await isAtSource(one),
      isVolume: (await pool.sizeBytes(one.volume)) !== undefined,
      state: await state(one.domain),
    })
    return { ...one, of, one, seen, definition, adopting: { ...one, pool, sizeBytes: one.drive.virtualBytes } }
  }
  const adopted = { isAtSource: false, isVolume: true, state: 'absent' }

  for (const kind of ['persistent', 'transient'] as const)
    test(`a ${kind} server is adopted, and runs again as before when it is given back`, async () => {
      const { content, node, pool, servers, state } = rig()
      const { adopting, definition, of, one, seen, volume } = await offServer(kind)
      const before = await content(one)
      const off = { isAtSource: true, isVolume: false, state: kind === 'persistent' ? 'off' : 'absent' }
      expect(await seen()).toEqual(off)
      // A disk that was not adopted is left alone.
      await node.giveBack({ ...adopting, definition })
      expect(await seen()).toEqual(off)
      for (const _ of [1, 2])
        expect(await node.adopt(adopting)).toEqual({ format: volume.format, sizeBytes: adopting.sizeBytes })
      expect(await seen()).toEqual(adopted)
      expect([await content(one), await pool.list()]).toEqual([before, expect.arrayContaining([volume])])
      for (const _ of [1, 2]) await node.giveBack({ ...adopting, definition })
      expect(await seen()).toEqual(off)
      expect(await content(one)).toBe(before)
      await servers.start(of, definition)
      expect(await state(one.domain)).toBe('running')
      expect(await seen()).toMatchObject({ isAtSource: true })
    })

  test('a disk that is smaller than its volume shall be grows, once', async () => {
    const { node, pool } = rig()
    const { adopting, volume } = await offServer('persistent')
    const sizeBytes = adopting.sizeBytes + 64 * MiB
    for (const _ of [1, 2])
      expect(await node.adopt({ ...adopting, sizeBytes })).toEqual({ format: volume.format, sizeBytes })
    expect(await pool.sizeBytes(volume)).toBe(sizeBytes)
  })

  test('a server that runs, or whose definition is not kept, is not adopted', async () => {
    const { node, power, servers } = rig()
    const { adopting, domain, of, seen } = await offServer('persistent')
    await servers.forget(of)
    const refused = () => node.adopt(adopting).catch((error) => error)
    expect(await refused()).toMatchObject({ code: 'source_definition_not_kept' })
    await servers.save(of)
    await power(domain)
    expect(await refused()).toMatchObject({ code: 'source_started' })
    expect(await seen()).toEqual({ isAtSource: true, isVolume: false, state: 'running' })
    await servers.stop(of, 0)
    await node.adopt(adopting)
    expect(await seen()).toEqual(adopted)
  })

  test('a volume of another origin is neither adopted nor given back', async () => {
    const { node, pool } = rig()
    const { adopting, definition, seen, volume } = await offServer('persistent')
    await pool.receive(volume, adopting.sizeBytes, async () => {})
    const differs = { code: 'volume_differs' }
    expect(await node.adopt(adopting).catch((error) => error)).toMatchObject(differs)
    expect(await node.giveBack({ ...adopting, definition }).catch((error) => error)).toMatchObject(differs)
    expect(await seen()).toEqual({ isAtSource: true, isVolume: true, state: 'off' })
    await pool.remove(volume)
    await node.adopt(adopting)
    const other = { ...adopting, domain: 'v999', definition }
    expect(await node.giveBack(other).catch((error) => error)).toMatchObject(differs)
    expect(await seen()).toEqual(adopted)
  })

  test('a disk of another format than the volume stays where it is', async () => {
    const { node } = rig()
    const { adopting, seen, volume } = await offServer('persistent')
    const format = volume.format === 'raw' ? ('qcow2' as const) : ('raw' as const)
    const other = { ...adopting, volume: { ...volume, format } }
    expect(await node.adopt(other).catch((error) => error)).toMatchObject({ code: 'image_refused' })
    expect(await seen()).toEqual({ isAtSource: true, isVolume: false, state: 'off' })
  })

  test('an adoption that is done cannot be taken back when its definition is forgotten', async () => {
    const { node } = rig()
    const { adopting, definition, domain, seen } = await offServer('persistent')
    await node.adopt(adopting)
    for (const _ of [1, 2]) await node.forget(domain)
    const refused = await node.giveBack({ ...adopting, definition }).catch((error) => error)
    expect(refused).toMatchObject({ code: 'volume_differs' })
    expect(await seen()).toEqual(adopted)
  })
}
