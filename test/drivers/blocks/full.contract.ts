// Vms on a pool that is full, by the commands of the agent and against libvirt. A vm has a system of one sector, which
// boots also where a processor is emulated twice, and writes.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atLayer } from '../../../agent/drivers/storage/storage.ts'
import type { Volume } from '../../../agent/protocol/wire.ts'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { bootSector, ENDED_AT, FAILED_AT, FIRST_WRITE_AT, WRITE_BYTES, WRITTEN } from './boot-sector.ts'
import { qemuIo, qemuIoAll } from './rig.ts'
import { openVms, type Setting, type Vms } from './vms.ts'

const MiB = 2 ** 20
const LIMIT_MS = 3_600_000
const WAIT_SECONDS = 900
/** A question is a process, which takes the emulated vm its processor. */
const PAUSE_MS = 1500
const DISK_BYTES = 32 * MiB
/** Through the firmware of a vm that is emulated twice each takes some 50 ms. */
const WRITES = (8 * MiB) / WRITE_BYTES

/**
 * `dataBytes`: the pool's size. `makeSpace`: enlarges it. `metadata`: where the pool has some of its own; `fill` takes
 * all that is left of it, with a disk that is written at these places.
 */
export type FullSetting = Setting & {
  dataBytes: number
  makeSpace(): Promise<unknown>
  metadata?: { fill(disk: string, places: readonly number[]): Promise<unknown>; makeSpace(): Promise<unknown> }
}

const waitUntil = (holds: () => Promise<boolean>) =>
  eventually(async () => {
    await Bun.sleep(PAUSE_MS)
    return holds()
  }, WAIT_SECONDS)

/** `hasMetadata`: the setting has some. */
export function fullContract(open: () => Promise<FullSetting>, { hasMetadata }: { hasMetadata: boolean }) {
  setDefaultTimeout(LIMIT_MS)
  let setting: FullSetting
  let vms: Vms
  let first = ''
  const obey: Vms['obey'] = (name, input) => vms.obey(name, input)
  const pathOf = async (volume: Volume) => (await vms.pool.disk(volume)).path
  const read = async (volume: Volume, at: number, sizeBytes: number, character: string) =>
    qemuIo('raw', await pathOf(volume), `read -P ${character.charCodeAt(0)} ${at} ${sizeBytes}`, '-r', '-U')
      .then(() => true)
      .catch(() => false)
  /** An empty disk of the vm with the system alone, which writes from its start on. */
  const install = async () => {
    await obey('volume.make', { volume: vms.diskOf(0), sizeBytes: DISK_BYTES })
    const file = join(temporary('boot'), 'sector')
    writeFileSync(file, bootSector(WRITES))
    await qemuIo('raw', await pathOf(vms.diskOf(0)), `write -s ${file} 0 512`, '-t', 'none')
    await obey('vm.define', vms.defined(0))
  }
  const hasEnded = () => read(vms.diskOf(0), ENDED_AT, 512, WRITTEN)
  const power = () => vms.host.hypervisor.power(first)
  const writesAll = async () => {
    const began = performance.now()
    await waitUntil(hasEnded)
    vms.told('the vm has written', began)
    expect(await hasEnded()).toBe(true)
    expect(await read(vms.diskOf(0), FIRST_WRITE_AT, WRITES * WRITE_BYTES, WRITTEN)).toBe(true)
    expect(await read(vms.diskOf(0), FAILED_AT, 512, '\0')).toBe(true)
    expect(await power()).toBe('running')
  }
  /** It is paused because a write failed, and does not know that one did. */
  const isPaused = async () => {
    const began = performance.now()
    await waitUntil(async () => (await power()) === 'paused')
    vms.told('the vm is paused', began)
    expect(await power()).toBe('paused')
    expect([await hasEnded(), await read(vms.diskOf(0), FAILED_AT, 512, '\0')]).toEqual([false, true])
  }
  const removeVm = async () => {
    await obey('vm.remove', { workload: first })
    await obey('volume.remove', vms.diskOf(0))
  }

  beforeAll(async () => {
    setting = await open()
    vms = await openVms(setting)
    first = vms.workloads[0]
  }, LIMIT_MS)
  afterAll(() => vms?.close(), LIMIT_MS)

  test('a vm boots from a disk of the pool and writes it, and does so again', async () => {
    await install()
    for (const _ of [1, 2]) {
      await vms.start(first)
      await writesAll()
      await obey('vm.stop', { workload: first, graceSeconds: 0 })
      await qemuIo('raw', await pathOf(vms.diskOf(0)), `write -z ${ENDED_AT} 512`, '-t', 'none')
    }
    await removeVm()
  })

  test('a vm in a full pool is paused, and goes on where it was when there is space', async () => {
    await install()
    const other = vms.diskOf(1)
    // ZFS takes some MiB more than it has, because it counts them a moment later.
    const sizeBytes = 2 * setting.dataBytes
    await obey('volume.make', { volume: other, sizeBytes })
    const until80 = Math.floor(setting.dataBytes * 0.82) & -MiB
    await qemuIo('raw', await pathOf(other), `write -P 7 0 ${until80}`, '-t', 'none')
    await eventually(async () => (await vms.pool.capacity()).warnings !== undefined, 60)
    expect((await vms.pool.capacity()).warnings?.join()).toContain('full to 8')
    await obey('volume.make', { volume: vms.volumeOf(0), sizeBytes: MiB })
    await obey('volume.remove', vms.volumeOf(0))
    const rest = `write -P 7 ${until80} ${sizeBytes - until80}`
    await expect(qemuIo('raw', await pathOf(other), rest, '-t', 'none')).rejects.toThrow('qemu-io')

    const full = {
      code: 'pool_full',
      message: expect.stringMatching(/^pool local is full to 9\d|^pool local is full to 100/),
    }
    await eventually(() =>
      obey('volume.make', { volume: vms.volumeOf(0), sizeBytes: MiB }).then(
        () => false,
        () => true,
      ),
    )
    await expect(obey('volume.make', { volume: vms.volumeOf(0), sizeBytes: MiB })).rejects.toMatchObject(full)
    await expect(obey('volume.snapshot', { vm: vms.defined(0, 1), from: 0 })).rejects.toMatchObject(full)
    await vms.start(first)
    await isPaused()
    // Without space it is paused again at once.
    await vms.start(first)
    await isPaused()
    await setting.makeSpace()
    await vms.start(first)
    await writesAll()
    await removeVm()
    await obey('volume.remove', other)
    expect(await vms.host.storage.list()).toEqual([])
  })

  if (hasMetadata)
    test('a vm in a pool whose metadata is full is paused, and goes on when there is more', async () => {
      const metadata = setting.metadata!
      await install()
      const other = vms.diskOf(1)
      const size = setting.dataBytes / 2
      await obey('volume.make', { volume: other, sizeBytes: size })
      const places = Array.from({ length: size / (4 * MiB) }, (_, at) => at * 4 * MiB)
      await qemuIo('raw', await pathOf(other), `write -P 1 0 ${size}`, '-t', 'none')
      // Each snapshot, with a block here and there that is written after it, takes metadata and hardly any space.
      const { pool } = vms
      const seen: number[] = []
      const snapshots = async (layer: number): Promise<unknown> => {
        const refused = await pool.fork(atLayer(other, layer), layer - 1, size).catch((error) => error)
        const { metadataFreeBytes = 0, metadataTotalBytes = 1, warnings } = await pool.capacity()
        const percent = 100 - (metadataFreeBytes / metadataTotalBytes) * 100
        seen.push(Math.floor(percent))
        if (percent >= 80) expect(warnings?.join()).toContain('Its metadata is full to')
        if (refused) return refused
        if (layer > 200) return seen
        await qemuIoAll(
          'raw',
          await pathOf(atLayer(other, layer)),
          places.map((at) => `write -q -P 2 ${at} 64k`),
          '-n',
        )
        return snapshots(layer + 1)
      }
      expect(await snapshots(1)).toMatchObject({
        code: 'pool_full',
        message: expect.stringContaining('the metadata of pool'),
      })
      process.stderr.write(`  metadata after each snapshot: ${seen.join(' ')} %\n`)
      const full = { code: 'pool_full', message: expect.stringContaining('the metadata of pool') }
      await expect(obey('volume.make', { volume: vms.volumeOf(0), sizeBytes: MiB })).rejects.toMatchObject(full)

      await metadata.fill(await pathOf(atLayer(other, seen.length - 1)), places)
      process.stderr.write(`  ${JSON.stringify(await pool.capacity())}\n`)
      await vms.start(first)
      await isPaused()
      await metadata.makeSpace()
      await vms.start(first)
      await writesAll()
      await removeVm()
      await obey('volume.remove', other)
      expect(await vms.host.storage.list()).toEqual([])
    })
}
