import type { Handlers } from '../host/host.ts'
import type { imageCommands } from '../protocol/commands/images.ts'

export const images = {
  async 'image.ensure'(source, { images }) {
    const { virtualSizeBytes } = await images.ensure(source)
    return { virtualSizeBytes }
  },
  async 'image.remove'({ id }, { images }) {
    await images.remove(id)
    return {}
  },
  async 'iso.ensure'(source, { isos }) {
    const { virtualSizeBytes } = await isos.ensure(source)
    return { sizeBytes: virtualSizeBytes }
  },
  async 'iso.remove'({ id }, { isos }) {
    await isos.remove(id)
    return {}
  },
} satisfies Handlers<typeof imageCommands>
