import { Type as t } from 'typebox'
import { MOST_STARTUP_OUTPUT_BYTES } from '../../../agent/protocol/startup-script.ts'
import { everybody } from '../../kernel/api/access.ts'
import { described, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import { bytes } from '../../kernel/words.ts'
import { server } from '../server-records/model.ts'
import { startupScriptOf } from './queries.ts'

export const getStartupScript = operation({
  id: 'servers.startup-script',
  method: 'GET',
  path: '/servers/{id}/startup-script',
  summary: 'The startup script of the last installation, and what it left',
  // Script and output may hold secrets: for those who may set a server up, not for every reader.
  access: everybody('servers:reinstall'),
  on: server,
  response: namedSchema('StartupScript', {
    script: described(
      nullable(
        t.Object({
          name: t.String(),
          content: described(t.String(), 'As it ran.'),
          state: described(
            t.Enum(['waiting', 'ended', 'unknown']),
            'waiting: it has not ended yet, or no guest agent answers. unknown: no end was seen within a day.',
          ),
          exitCode: nullable(t.Integer()),
          output: described(
            nullable(t.String()),
            `The first ${bytes(MOST_STARTUP_OUTPUT_BYTES)}, any text; control and invisible characters by their codes.`,
          ),
          truncated: t.Boolean(),
          startedAt: time,
          endedAt: nullable(time),
        }),
      ),
      'Null: it was installed without one.',
    ),
  }),
  run({ tx, target }) {
    const found = startupScriptOf(tx, target.id)
    if (!found) return { script: null }
    const { name, content, state, exitCode, output, truncated, startedAt, endedAt } = found
    const times = { startedAt: iso(startedAt), endedAt: isoOrNull(endedAt) }
    return { script: { name, content, state, exitCode, output, truncated, ...times } }
  },
})
