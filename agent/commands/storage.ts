import { brokeOff, whileFrozen } from '../drivers/guest-agent/freezing.ts'
import { atLayer } from '../drivers/storage/storage.ts'
import { Failure } from '../failure.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { storageCommands } from '../protocol/commands/storage.ts'
import type { Power, Volume } from '../protocol/wire.ts'
import { defineVm } from './hypervisor.ts'
import { extraVolumes, mustBeFree } from './vms/extra-volume.ts'

export const storage = {
  ...extraVolumes,

  'volume.look': async (volume, { storage }) => ({
    sizeBytes: (await (await storage.answering(volume.pool)).sizeBytes(volume)) ?? null,
  }),

  async 'volume.create'({ volume, image: imageId, sizeBytes }, { storage, images }) {
    const image = await images.find(imageId)
    if (!image)
      throw new Failure('no_image', `image ${imageId} is not on this node; image.ensure comes before volume.create`)
    if (sizeBytes < image.virtualSizeBytes)
      throw new Failure('disk_too_small', `the image needs ${image.virtualSizeBytes} bytes, the disk has ${sizeBytes}`)
    const pool = await storage.answering(volume.pool)
    const { freeBytes } = await pool.capacity()
    // A copy that fills the file system would stop every vm whose disk grows there.
    if (freeBytes < image.virtualSizeBytes && (await pool.sizeBytes(volume)) === undefined)
      throw new Failure(
        'pool_full',
        `the image needs ${image.virtualSizeBytes} bytes, pool ${volume.pool} has ${freeBytes} left`,
      )
    await pool.create(volume, image, sizeBytes)
    return { checksum: image.checksum }
  },

  async 'volume.grow'({ volume, sizeBytes }, { storage, hypervisor, state }) {
    const pool = await storage.answering(volume.pool)
    const there = await pool.sizeBytes(volume)
    if (there === undefined) throw new Failure('no_volume', `${volume.workload} has no disk on this node`)
    const disk = await pool.disk(volume)
    const vm = state.holderOf(volume.workload) ?? volume.workload
    const on = isOn(await hypervisor.power(vm))
    // While a vm has a file open, only its hypervisor may change it.
    const byHypervisor = on && disk.kind === 'file'
    if (there < sizeBytes && !byHypervisor) await pool.grow(volume, sizeBytes)
    // A device may have grown in a call before that a crash ended, and the vm does not know it.
    if (on && (there < sizeBytes || !byHypervisor)) await hypervisor.growDisk(vm, disk, Math.max(there, sizeBytes))
    return {}
  },

  async 'volume.snapshot'({ vm, from }, host) {
    const { workload, volume } = vm
    const pool = await host.storage.answering(volume.pool)
    const below = atLayer(volume, from)
    const sizeBytes = await pool.sizeBytes(below)
    if (sizeBytes === undefined)
      throw new Failure('no_volume', `${workload} has no disk ${(await pool.disk(below)).path}`)
    const power = await host.hypervisor.power(workload)
    const consistent = isOn(power)
      ? await addLayer(host, volume, from, sizeBytes)
      : power === 'stopped' && !(await brokeOff(host.hypervisor, workload))
    if (!isOn(power)) await pool.fork(volume, from, sizeBytes)
    await defineVm(vm, host)
    return { consistent, usedBytes: await pool.usedBytes(below) }
  },

  async 'volume.fork'({ volume, from, sizeBytes }, { storage }) {
    await (await storage.answering(volume.pool)).fork(volume, from, sizeBytes)
    return {}
  },

  async 'volume.merge'({ vm, from, into }, host) {
    const { workload, volume } = vm
    const pool = await host.storage.answering(volume.pool)
    const [upper, lower] = [atLayer(volume, from), atLayer(volume, into)]
    if ((await pool.sizeBytes(upper)) !== undefined) {
      const [from_, into_] = [(await pool.disk(upper)).path, (await pool.disk(lower)).path]
      const isLive = pool.layering === 'hypervisor' && isOn(await host.hypervisor.power(workload))
      const layers = isLive ? await host.hypervisor.layers(workload) : []
      if (layers.includes(from_)) await host.hypervisor.commitLayer(workload, from_, into_)
      // A running vm that has the lower layer alone was changed before a crash, and has it open.
      else if (!layers.includes(into_)) await pool.merge(volume, from, into)
      await pool.rebase(volume, from, into, layers)
    }
    await defineVm(vm, host)
    await pool.removeLayer(volume, from)
    return { usedBytes: await pool.usedBytes(lower) }
  },

  async 'volume.remove-layer'({ volume, layer }, { storage, hypervisor }) {
    const pool = await storage.answering(volume.pool)
    const { path } = await pool.disk(atLayer(volume, layer))
    if (isOn(await hypervisor.power(volume.workload)) && (await hypervisor.layers(volume.workload)).includes(path))
      throw new Failure('layer_in_use', `${volume.workload} runs on ${path}`)
    await pool.removeLayer(volume, layer)
    return {}
  },

  async 'volume.remove'(volume, host) {
    const { storage, hypervisor, backupRuns } = host
    await mustBeFree(host, volume.workload)
    await backupRuns.release(volume)
    await hypervisor.forgetFirmware(volume)
    await (await storage.answering(volume.pool)).remove(volume)
    return {}
  },
} satisfies Handlers<typeof storageCommands>

const isOn = (power: Power) => power === 'running' || power === 'paused'

/** After a crash the layer may be there already; whether the vm was frozen is then not known. */
async function addLayer(host: Host, volume: Volume, from: number, sizeBytes: number): Promise<boolean> {
  const { workload, pool: name } = volume
  const pool = await host.storage.answering(name)
  const disk = await pool.disk(volume)
  if (pool.layering === 'pool') {
    if ((await pool.sizeBytes(volume)) !== undefined) return false
    return whileFrozen(host, workload, () => pool.fork(volume, from, sizeBytes))
  }
  if ((await host.hypervisor.layers(workload)).includes(disk.path)) return false
  return whileFrozen(host, workload, () => host.hypervisor.addLayer(workload, disk))
}
