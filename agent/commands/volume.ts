import { Failure } from '../failure.ts'
import type { Commands } from './index.ts'

export const volumeCommands = {
  'volume.look': async (volume, { storage }) => ({
    sizeBytes: (await storage.pool(volume.pool).sizeBytes(volume)) ?? null,
  }),

  async 'volume.create'({ volume, image: imageId, sizeBytes }, { storage, images }) {
    const image = await images.find(imageId)
    if (!image)
      throw new Failure('no_image', `image ${imageId} is not on this node; image.ensure comes before volume.create`)
    if (sizeBytes < image.virtualSizeBytes) {
      throw new Failure('disk_too_small', `the image needs ${image.virtualSizeBytes} bytes, the disk has ${sizeBytes}`)
    }
    await storage.pool(volume.pool).create(volume, image, sizeBytes)
    return {}
  },

  async 'volume.remove'(volume, { storage }) {
    await storage.pool(volume.pool).remove(volume)
    return {}
  },
} satisfies Partial<Commands>
