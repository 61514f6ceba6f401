import type { Handlers } from '../host/host.ts'
import { runningIn } from '../host/instances/start-container.ts'
import type { httpNamesCommands } from '../protocol/commands/http-names.ts'

export const httpNames = {
  async 'http-names.set'(names, { containers, httpNames }) {
    const set = await httpNames.set(names)
    httpNames.openedOnly(runningIn(await containers.look()))
    return set
  },
} satisfies Handlers<typeof httpNamesCommands>
