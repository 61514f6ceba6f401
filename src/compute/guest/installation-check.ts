import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { endedServer } from '../server-records/model.ts'
import { guestOf } from './queries.ts'

export const getInstallationCheck = operation({
  id: 'servers.installation-check',
  method: 'GET',
  path: '/servers/{id}/installation-check',
  summary: 'What a server had right after its last installation, as its node saw it',
  access: everybody('servers:read'),
  on: endedServer,
  response: namedSchema('InstallationCheck', {
    check: described(
      nullable(
        t.Object({
          jobId: described(t.String(), 'The installation.'),
          at: time,
          addresses: t.Array(
            t.Object({
              address: t.String(),
              answers: described(t.Boolean(), 'By ARP or neighbour discovery, or its guest agent has it.'),
            }),
          ),
          hostname: described(nullable(t.String()), 'As its guest agent names it; null: none answered.'),
          ssh: described(t.Boolean(), 'Port 22 answered the node.'),
          signIn: described(
            nullable(t.Object({ password: t.Boolean(), keys: t.Boolean() })),
            'How its SSH server lets root in; null: not known.',
          ),
          warnings: described(t.Array(t.String()), 'What it lacks of what was ordered.'),
        }),
      ),
      'Null: nothing was seen, as on Windows, or where the guest did not answer.',
    ),
  }),
  run({ tx, target }) {
    const seen = guestOf(tx, target.id)?.seen
    return { check: seen ? { ...seen, at: iso(seen.at) } : null }
  },
})
