import type { gpuCommands } from '../protocol/commands/gpu.ts'
import type { Handlers } from './handlers.ts'

export const gpu = {
  'cards.check': async ({ cards }, { gpus }) => ({ cards: await gpus.check(cards) }),
} satisfies Handlers<typeof gpuCommands>
