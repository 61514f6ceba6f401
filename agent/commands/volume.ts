import { Failure } from '../failure.ts'
import type { Commands } from './commands.ts'

export const volumeCommands = {
  'volume.look': async (volume, { storage }) => ({
    sizeBytes: (await storage.pool(volume.pool).sizeBytes(volume)) ?? null,
  }),

  async 'volume.create'({ volume, image: imageId, sizeBytes }, { storage, images }) {
    const image = await images.find(imageId)
    if (!image)
      throw new Failure('no_image', `image ${imageId} is not on this node; image.ensure comes before volume.create`)
    if (sizeBytes < image.virtualSizeBytes)
      throw new Failure('disk_too_small', `the image needs ${image.virtualSizeBytes} bytes, the disk has ${sizeBytes}`)
    const pool = storage.pool(volume.pool)
    const { freeBytes } = await pool.capacity()
    // A copy that fills the file system would stop every vm whose disk grows there.
    if (freeBytes < image.virtualSizeBytes && (await pool.sizeBytes(volume)) === undefined)
      throw new Failure(
        'pool_full',
        `the image needs ${image.virtualSizeBytes} bytes, pool ${volume.pool} has ${freeBytes} left`,
      )
    await pool.create(volume, image, sizeBytes)
    return {}
  },

  async 'volume.grow'({ volume, sizeBytes }, { storage, hypervisor }) {
    const pool = storage.pool(volume.pool)
    const there = await pool.sizeBytes(volume)
    if (there === undefined) throw new Failure('no_volume', `${volume.workload} has no disk on this node`)
    if (there >= sizeBytes) return {}
    const power = await hypervisor.power(volume.workload)
    // While a vm has the disk open, only its hypervisor may change it.
    if (power === 'running' || power === 'paused')
      await hypervisor.growDisk(volume.workload, pool.disk(volume), sizeBytes)
    else await pool.grow(volume, sizeBytes)
    return {}
  },

  async 'volume.remove'(volume, { storage }) {
    await storage.pool(volume.pool).remove(volume)
    return {}
  },
} satisfies Partial<Commands>
