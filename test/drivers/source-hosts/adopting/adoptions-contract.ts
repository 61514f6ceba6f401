// The contract of adoptions on a node that is the hypervisor of another panel. A fake and a real node pass it.
import { expect, test } from 'bun:test'
import type { SourceDisk } from '../../../../agent/protocol/values/source-hosts.ts'
import type { CommandName, Input, Output, Volume } from '../../../../agent/protocol/wire.ts'

/** A server that runs, with the volume that its disk is to be. */
export type Adoptee = { domain: string; drive: SourceDisk; volume: Volume }
export type AdoptionsRig = {
  obey<N extends CommandName>(name: N, input: Input<N>): Promise<Output<N>>
  server(kind: 'transient' | 'persistent'): Promise<Adoptee>
  /** `running`, `off` or `absent`. */
  state(domain: string): Promise<string>
  /** A checksum of its disk, wherever that is now. */
  content(one: Adoptee): Promise<string>
  /** Whether there is a disk at its place at the source. */
  isAtSource(one: Adoptee): Promise<boolean>
  /** The other panel starts it again. */
  power(domain: string): Promise<void>
}

const MiB = 2 ** 20

/** A server that was saved and stopped, and is to be adopted. */
export async function readyServer({ obey, server, state, isAtSource }: AdoptionsRig, kind: 'transient' | 'persistent') {
  const one = await server(kind)
  const { domain, volume } = one
  const of = { host: null, domain }
  const { definition } = await obey('source-host.save', of)
  await obey('source-host.stop', { ...of, graceSeconds: 30 })
  const seen = async () => ({
    isAtSource: await isAtSource(one),
    isVolume: (await obey('volume.look', volume)).sizeBytes !== null,
    state: await state(domain),
  })
  const sizeBytes = one.drive.virtualBytes
  const adopt = (more: Partial<Input<'source-host.adopt'>> = {}) =>
    obey('source-host.adopt', { ...one, sizeBytes, ...more })
  const giveBack = (more: Partial<Input<'source-host.give-back'>> = {}) =>
    obey('source-host.give-back', { ...one, definition, ...more })
  return { ...one, adopt, definition, giveBack, of, one, seen, sizeBytes }
}
export const adopted = { isAtSource: false, isVolume: true, state: 'absent' }
export const readyPersistent = { isAtSource: true, isVolume: false, state: 'off' }
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => error.code,
  )

export function adoptionsContract(rig: () => AdoptionsRig) {
  for (const kind of ['persistent', 'transient'] as const)
    test(`a ${kind} server is adopted, and runs again as before when it is given back`, async () => {
      const { content, obey } = rig()
      const { adopt, definition, giveBack, of, one, seen, sizeBytes, volume } = await readyServer(rig(), kind)
      const before = await content(one)
      const ready = { ...readyPersistent, state: kind === 'persistent' ? 'off' : 'absent' }
      expect(await seen()).toEqual(ready)
      // A disk that was not adopted is left alone.
      await giveBack()
      expect(await seen()).toEqual(ready)
      for (const _ of [1, 2]) expect(await adopt()).toEqual({ format: volume.format, sizeBytes })
      expect(await seen()).toEqual(adopted)
      expect(await content(one)).toBe(before)
      for (const _ of [1, 2]) await giveBack()
      expect(await seen()).toEqual(ready)
      expect(await content(one)).toBe(before)
      await obey('source-host.start', { ...of, definition })
      expect(await seen()).toEqual({ ...ready, state: 'running' })
    })

  test('a server that runs, or whose definition is not kept, is not adopted; a small disk grows', async () => {
    const { obey, power } = rig()
    const { adopt, domain, of, seen, sizeBytes, volume } = await readyServer(rig(), 'persistent')
    await obey('source-host.forget', of)
    expect(await codeOf(adopt())).toBe('source_definition_not_kept')
    await obey('source-host.save', of)
    await power(domain)
    expect(await codeOf(adopt())).toBe('source_started')
    expect(await seen()).toEqual({ ...readyPersistent, state: 'running' })
    await obey('source-host.stop', { ...of, graceSeconds: 0 })
    const larger = sizeBytes + 64 * MiB
    for (const _ of [1, 2])
      expect(await adopt({ sizeBytes: larger })).toEqual({ format: volume.format, sizeBytes: larger })
    expect(await seen()).toEqual(adopted)
    expect(await obey('volume.look', volume)).toEqual({ sizeBytes: larger })
  })

  test('a volume of another origin, and a disk of another format, are neither adopted nor given back', async () => {
    const { obey } = rig()
    const { adopt, giveBack, seen, of, sizeBytes, volume } = await readyServer(rig(), 'persistent')
    const format = volume.format === 'raw' ? ('qcow2' as const) : ('raw' as const)
    expect(await codeOf(adopt({ volume: { ...volume, format } }))).toBe('image_refused')
    expect(await seen()).toEqual(readyPersistent)
    await obey('volume.make', { volume, sizeBytes })
    for (const refused of [adopt, giveBack]) expect(await codeOf(refused())).toBe('volume_differs')
    expect(await seen()).toEqual({ ...readyPersistent, isVolume: true })
    await obey('volume.remove', volume)
    await adopt()
    expect(await codeOf(giveBack({ domain: 'v999' }))).toBe('volume_differs')
    expect(await seen()).toEqual(adopted)
    // Once its definition is forgotten, the adoption stays.
    for (const _ of [1, 2]) await obey('source-host.forget', of)
    expect(await codeOf(giveBack())).toBe('volume_differs')
    expect(await seen()).toEqual(adopted)
  })
}
