import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { endedServer } from '../server-records/model.ts'
import { switchOf } from './queries.ts'
import { switchStates } from './switch-states.ts'

export const getAddressChange = operation({
  id: 'servers.address-change',
  method: 'GET',
  path: '/servers/{id}/address-change',
  summary: 'Whether the system inside a server has the addresses that it got by a move or an import',
  access: everybody('servers:read'),
  on: endedServer,
  response: namedSchema('AddressChange', {
    state: described(
      nullable(t.Enum([...switchStates])),
      'waiting: its guest agent is asked until it answers. given_up: none answered in time. Null: nothing was changed.',
    ),
    error: described(nullable(t.String()), 'Why its system was not told yet.'),
    since: nullable(time),
  }),
  run({ tx, target }) {
    const found = switchOf(tx, target.id)
    return { state: found?.state ?? null, error: found?.error ?? null, since: isoOrNull(found?.since ?? null) }
  },
})
