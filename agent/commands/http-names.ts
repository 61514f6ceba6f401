import { runningIn } from '../host/instances/start-container.ts'
import type { httpNamesCommands } from '../protocol/commands/http-names.ts'
import type { Handlers } from './handlers.ts'

export const httpNames = {
  async 'http-names.set'(names, { containers, httpNames }) {
    const set = await httpNames.set(names)
    httpNames.openedOnly(runningIn(await containers.look()))
    return set
  },
} satisfies Handlers<typeof httpNamesCommands>
