// Disks and volumes that a QEMU has open, by the commands of the agent and against libvirt, without a system in the vm:
// QEMU itself writes and reads them, by its monitor. For machines on which a guest is too slow to boot.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { atLayer, qemuPath } from '../../../agent/drivers/storage/storage.ts'
import { run } from '../../../agent/host/exec.ts'
import { serialOf, type Volume } from '../../../agent/protocol/wire.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { qemuIo } from './rig.ts'
import { openVms, type Setting, type Vms } from './vms.ts'

const MiB = 2 ** 20
const LIMIT_MS = 1_800_000

export function attachedContract(open: () => Promise<Setting>) {
  setDefaultTimeout(LIMIT_MS)
  let vms: Vms
  let [first, second] = ['', '']
  const obey: Vms['obey'] = (name, input) => vms.obey(name, input)

  const virsh = async (...args: string[]) => (await run('virsh', ['-c', 'qemu:///system', ...args])).out
  /** The disk with this serial number, in the QEMU that has it open: QEMU's name of it, and libvirt's. */
  const openDisk = async (workload: string, serial: string) => {
    const disks = (await virsh('dumpxml', workload)).match(/<disk [\s\S]*?<\/disk>/g) ?? []
    const disk = disks.find((xml) => xml.includes(`<serial>${serial}</serial>`)) ?? ''
    return { alias: /<alias name='([^']+)'/.exec(disk)?.[1], target: /<target dev='([^']+)'/.exec(disk)?.[1] ?? '' }
  }
  /** Lets QEMU run a command of qemu-io. Its answer is lost, so what was written is read from the host. */
  const inQemu = async (workload: string, serial: string, command: string) => {
    const device = `/machine/peripheral/${(await openDisk(workload, serial)).alias}/virtio-backend`
    for (const one of [command, 'flush'])
      await virsh('qemu-monitor-command', workload, '--hmp', `qemu-io -d ${device} "${one}"`)
  }
  /** The size that QEMU shows the vm. */
  const sizeIn = async (workload: string, serial: string) => {
    const { target } = await openDisk(workload, serial)
    return Number(/^Capacity: +(\d+)$/m.exec(await virsh('domblkinfo', workload, target))?.[1])
  }
  /** Throws where the disk has something else than the pattern, also while a QEMU has it open. */
  const holds = async (volume: Volume, pattern: string, where: string) => {
    const disk = await vms.pool.disk(volume)
    await qemuIo(disk.format, qemuPath(disk), `read -P ${pattern} ${where}`, '-r', '-U', '-t', 'none')
  }
  const serialOfVolume = () => serialOf(vms.volumeOf(0).workload)

  beforeAll(async () => {
    vms = await openVms(await open())
    ;[first, second] = vms.workloads
    // Without a system the vm stands still in its firmware.
    await obey('volume.make', { volume: vms.diskOf(0), sizeBytes: 128 * MiB })
    await obey('vm.define', vms.defined(0))
    await vms.start(first)
  }, LIMIT_MS)
  afterAll(() => vms?.close(), LIMIT_MS)

  test('a volume is empty, is attached while the vm runs, grows there, and frees what is discarded', async () => {
    const one = vms.volumeOf(0)
    for (const _ of [1, 2]) await obey('volume.make', { volume: one, sizeBytes: 64 * MiB })
    for (const _ of [1, 2]) await obey('volume.attach', { workload: first, volume: one })
    await holds(vms.volumeOf(0), '0', '0 64M')
    await inQemu(first, serialOfVolume(), 'write -P 90 0 64M')
    for (const _ of [1, 2]) await obey('volume.grow', { volume: one, sizeBytes: 96 * MiB })
    expect(await sizeIn(first, serialOfVolume())).toBe(96 * MiB)
    await holds(vms.volumeOf(0), '0', '64M 32M')
    await holds(vms.volumeOf(0), '90', '0 64M')
    await eventually(async () => (await vms.pool.usedBytes(one)) > 0, 60)
    // ZFS compresses a pattern to nearly nothing.
    const written = await vms.pool.usedBytes(one)
    await inQemu(first, serialOfVolume(), 'discard 32M 32M')
    await eventually(async () => (await vms.pool.usedBytes(one)) < written, 60)
    expect(await vms.pool.usedBytes(one)).toBeLessThan(written)
    await expect(obey('volume.remove', one)).rejects.toMatchObject({ code: 'volume_in_use' })
  })

  test('a snapshot of an open disk comes back without what was written since, and merges under QEMU', async () => {
    await inQemu(first, 'system', 'write -P 65 0 1M')
    await obey('volume.snapshot', { vm: vms.defined(0, 1), from: 0 })
    await inQemu(first, 'system', 'write -P 66 0 1M')
    await obey('volume.grow', { volume: atLayer(vms.diskOf(0), 1), sizeBytes: 160 * MiB })
    expect(await sizeIn(first, 'system')).toBe(160 * MiB)
    await obey('vm.stop', { workload: first, graceSeconds: 0 })
    await obey('volume.fork', { volume: atLayer(vms.diskOf(0), 2), from: 0, sizeBytes: 160 * MiB })
    await obey('vm.define', vms.defined(0, 2))
    for (const _ of [1, 2]) await obey('volume.remove-layer', { volume: vms.diskOf(0), layer: 1 })
    await vms.start(first)
    await holds(atLayer(vms.diskOf(0), 2), '65', '0 1M')
    await inQemu(first, 'system', 'write -P 67 0 1M')
    for (const _ of [1, 2]) await obey('volume.merge', { vm: vms.defined(0), from: 2, into: 0 })
    await holds(vms.diskOf(0), '67', '0 1M')
    expect(await sizeIn(first, 'system')).toBe(160 * MiB)
    await holds(vms.volumeOf(0), '90', '0 32M')
  })

  test('a backup of an open disk becomes the disk of a second vm, to which the volume moves', async () => {
    await inQemu(first, 'system', 'write -P 68 0 1M')
    const backup = { backup: `bkp_${'1'.repeat(26)}`, volume: vms.diskOf(0), target: vms.target }
    const made = await obey('backup.make', backup)
    expect(made.diskBytes).toBe(160 * MiB)
    await inQemu(first, 'system', 'write -P 69 0 1M')
    const restored = { snapshot: made.snapshot, sizeBytes: made.diskBytes, target: vms.target }
    for (const _ of [1, 2]) await obey('backup.restore', { ...restored, volume: vms.diskOf(1) })
    await obey('vm.define', vms.defined(1))
    const one = vms.volumeOf(0)
    await expect(obey('volume.attach', { workload: second, volume: one })).rejects.toMatchObject({
      code: 'volume_in_use',
    })
    // Nothing in the vm releases it.
    await expect(obey('volume.detach', { workload: first, volume: one })).rejects.toMatchObject({ code: 'volume_held' })
    await obey('vm.stop', { workload: first, graceSeconds: 0 })
    for (const _ of [1, 2]) await obey('volume.detach', { workload: first, volume: one })
    await obey('volume.attach', { workload: second, volume: one })
    for (const workload of [first, second]) await vms.start(workload)
    await holds(vms.diskOf(1), '68', '0 1M')
    await holds(vms.diskOf(0), '69', '0 1M')
    await holds(vms.volumeOf(0), '90', '0 32M')
  })

  test('a vm whose QEMU was killed starts at once, and its disks can be deleted after another kill', async () => {
    await vms.killQemu(second)
    await vms.start(second)
    await holds(vms.diskOf(1), '68', '0 1M')
    await holds(vms.volumeOf(0), '90', '0 32M')
    await vms.killQemu(second)
    await obey('vm.remove', { workload: second })
    for (const _ of [1, 2]) await obey('volume.remove', vms.diskOf(1))
    await obey('volume.remove', vms.volumeOf(0))
    expect(await vms.host.storage.list()).toEqual([vms.diskOf(0)])
  })

  test('a new volume shows nothing of what was there before, and everything can be deleted', async () => {
    await obey('volume.make', { volume: vms.volumeOf(0), sizeBytes: 96 * MiB })
    await obey('volume.attach', { workload: first, volume: vms.volumeOf(0) })
    await holds(vms.volumeOf(0), '0', '0 96M')
    await inQemu(first, serialOfVolume(), 'write -P 1 0 512')
    await holds(vms.volumeOf(0), '0', '512 95M')
    await obey('vm.remove', { workload: first })
    for (const one of [vms.volumeOf(0), vms.diskOf(0)]) await obey('volume.remove', one)
    expect(await vms.host.storage.list()).toEqual([])
  })
}
