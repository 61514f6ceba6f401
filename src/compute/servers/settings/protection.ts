import { Type as t } from 'typebox'
import { namedSchema } from '../../../kernel/api/operation.ts'
import { updateServer } from '../../server-records/queries.ts'
import { protecting } from '../../workloads/protection.ts'
import { actingServer } from '../states.ts'

export const setProtection = protecting(actingServer, {
  summary:
    'Switch the protection of a server on or off; while it is on, nobody reinstalls it, and its provider and billing ' +
    'terminate it with its undelete window only',
  change: (tx, id, isProtected) => updateServer(tx, id, { protected: isProtected }),
  answer: {
    schema: namedSchema('Protection', { serverId: t.String(), protected: t.Boolean() }),
    of: (serverId, isProtected) => ({ serverId, protected: isProtected }),
  },
})
