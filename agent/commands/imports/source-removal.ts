import type { Handlers } from '../../host/host.ts'
import type { sourceRemovalCommands } from '../../protocol/commands/imports/source-removal.ts'

export const sourceRemoval = {
  'source-removal.look': (scope, { sourceRemovals }) => sourceRemovals.look(scope),

  'source-removal.run': ({ removal, ...scope }, { sourceRemovals }) => sourceRemovals.remove(removal, scope),

  'source-removal.restore': ({ removal }, { sourceRemovals }) => sourceRemovals.restore(removal),
} satisfies Handlers<typeof sourceRemovalCommands>
