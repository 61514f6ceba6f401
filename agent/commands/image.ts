import type { Commands } from './commands.ts'

export const imageCommands = {
  async 'image.ensure'(source, { images }) {
    const { virtualSizeBytes } = await images.ensure(source)
    return { virtualSizeBytes }
  },
  async 'image.remove'({ id }, { images }) {
    await images.remove(id)
    return {}
  },
} satisfies Partial<Commands>
