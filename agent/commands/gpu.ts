import type { Handlers } from '../host/host.ts'
import type { gpuCommands } from '../protocol/commands/gpu.ts'

export const gpu = {
  'cards.check': async ({ cards }, { gpus }) => ({ cards: await gpus.check(cards) }),
} satisfies Handlers<typeof gpuCommands>
