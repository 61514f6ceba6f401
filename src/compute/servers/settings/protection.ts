// The protection of a server against its loss by mistake: while it is on, nobody reinstalls it, and nobody but its
// provider terminates it.
import { Type as t } from 'typebox'
import { everybody } from '../../../kernel/api/access.ts'
import { fields, namedSchema, operation } from '../../../kernel/api/operation.ts'
import { server } from '../model.ts'
import { updateServer } from '../queries.ts'
import { mustAllowFor, refusalsOf } from '../state.ts'

export const setProtection = operation({
  id: 'servers.protection',
  method: 'PUT',
  path: '/servers/{id}/protection',
  summary:
    'Switch the protection of a server on or off; while it is on, nobody reinstalls it, and its provider and billing ' +
    'terminate it with its undelete window only',
  access: everybody('servers:settings'),
  on: server,
  body: fields({ protected: t.Boolean() }),
  response: namedSchema('Protection', { serverId: t.String(), protected: t.Boolean() }),
  refuses: refusalsOf('protect'),
  example: { protected: true },
  run({ tx, actor, target, body }) {
    mustAllowFor(tx, actor, target, 'protect')
    updateServer(tx, target.id, { protected: body.protected })
    return { serverId: target.id, protected: body.protected }
  },
})
