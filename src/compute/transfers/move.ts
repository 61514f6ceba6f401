// Moving a server.
import { Type as t } from 'typebox'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation, time, timeFrom } from '../../kernel/api/operation.ts'
import { day, isoOrNull } from '../../kernel/db/clock.ts'
import { server } from '../server-records/model.ts'
import { MOST_MBPS, moveModes } from './forecast.ts'
import { beginMove, moveLater } from './job/begin.ts'
import { modeField, sharedStorageField } from './model.ts'
import { transferActions } from './states.ts'

export const maxMbpsField = described(
  nullable(t.Integer({ minimum: 1, maximum: MOST_MBPS })),
  'The most megabit per second that its copy takes; null: no more than the setting.',
)

export const moveServer = operation({
  id: 'servers.move',
  method: 'POST',
  path: '/admin/servers/{id}/actions/move',
  summary: 'Move a server to another node: with its disks, addresses, firewall and private networks',
  past: 'Started a move to another node',
  access: { staff: ['servers:move'] },
  on: server,
  body: fields({
    nodeId: t.Optional(described(nullable(t.String({ minLength: 1, maxLength: 40 })), 'Null: placement chooses.')),
    mode: t.Optional(
      described(
        t.Enum([...moveModes]),
        'live: with its memory while it runs. near_live: its disks are copied while it runs, and it is shut down ' +
          'for what changed meanwhile. cold: it is shut down first. auto, and without it: live where nothing speaks ' +
          'against it, else near_live; what is off is copied.',
      ),
    ),
    maxMbps: t.Optional(maxMbpsField),
    readdress: t.Optional(
      described(
        t.Boolean(),
        'It may go where it gets new addresses: to nodes whose pools do not carry its own, also in locations to ' +
          'which its location allows moves. Its owner is told by mail.',
      ),
    ),
    startsAt: t.Optional(
      described(
        nullable(time),
        'It waits until this time, at most 30 days ahead, and is planned again then. Until then nothing is held for ' +
          'it. Null: now.',
      ),
    ),
  }),
  response: namedSchema('MoveStarted', {
    jobId: described(
      nullable(t.String()),
      'Null where nothing is installed: it is moved at once. Null before its time, and in a dry run.',
    ),
    serverId: t.String(),
    transferId: described(nullable(t.String()), 'Null in a dry run.'),
    startsAt: nullable(time),
    to: t.Object({ id: t.String(), name: t.String() }),
    mode: modeField,
    notLive: described(nullable(t.String()), 'What speaks against moving it with its memory, in words; null: nothing.'),
    bytes: described(t.Integer(), 'To be copied at most.'),
    sharedStorage: sharedStorageField,
    expectedSeconds: t.Integer(),
    expectedDowntimeMs: t.Integer(),
    changes: t.Array(t.String()),
  }),
  status: 202,
  idempotent: true,
  dryRun: true,
  refuses: [
    ...transferActions.refusalsOf('move'),
    'server_busy',
    'already_done',
    'not_movable',
    'volume_busy',
    'floating_ip_busy',
    'no_capacity',
    'no_addresses',
    'placement_group_unmet',
  ],
  example: { nodeId: null },
  run(call) {
    const { target, body, query, clock } = call
    const startsAt = body.startsAt == null ? null : timeOf(body.startsAt, clock())
    const { jobId, transferId, chosen, foreseen } = startsAt === null ? beginMove(call) : moveLater(call, startsAt)
    const isDry = query['dryRun'] === 'true'
    return {
      jobId: isDry ? null : jobId,
      serverId: target.id,
      transferId: isDry ? null : transferId,
      startsAt: isoOrNull(startsAt),
      to: { id: chosen.nodeId, name: chosen.name },
      ...foreseen,
    }
  },
})

/** A move further ahead is planned from what nobody remembers. */
const LATEST_MS = 30 * day
/** Throws `validation_failed`. */
function timeOf(text: string, now: number): number {
  const at = timeFrom('startsAt', text)
  const wrong = at <= now ? 'must be later than now.' : at > now + LATEST_MS ? 'must be within 30 days.' : undefined
  if (wrong) throw invalid({ field: 'startsAt', message: wrong })
  return at
}
