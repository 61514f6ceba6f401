// Moving a server.
import { Type as t } from 'typebox'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { server } from '../server-records/model.ts'
import { MOST_MBPS, moveModes } from './forecast.ts'
import { beginMove } from './job/begin.ts'
import { modeField } from './model.ts'
import { transferActions } from './states.ts'

export const moveServer = operation({
  id: 'servers.move',
  method: 'POST',
  path: '/admin/servers/{id}/actions/move',
  summary: 'Move a server to another node: with its disks, addresses, firewall and private networks',
  access: { staff: ['servers:move'] },
  on: server,
  body: fields({
    nodeId: t.Optional(described(nullable(t.String({ minLength: 1, maxLength: 40 })), 'Null: placement chooses.')),
    mode: t.Optional(
      described(
        t.Enum([...moveModes]),
        'auto: what runs is copied while it runs, and shut down for what changed meanwhile. cold: it is shut down ' +
          'first. Without it: auto.',
      ),
    ),
    maxMbps: t.Optional(
      described(
        nullable(t.Integer({ minimum: 1, maximum: MOST_MBPS })),
        'The most megabit per second that its copy takes.',
      ),
    ),
  }),
  response: namedSchema('MoveStarted', {
    jobId: described(nullable(t.String()), 'Null where nothing is installed: it is moved at once. Null in a dry run.'),
    serverId: t.String(),
    transferId: described(nullable(t.String()), 'Null in a dry run.'),
    to: t.Object({ id: t.String(), name: t.String() }),
    mode: modeField,
    bytes: described(t.Integer(), 'To be copied at most.'),
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
    const { target, query } = call
    const { jobId, transferId, chosen, foreseen } = beginMove(call)
    const isDry = query['dryRun'] === 'true'
    return {
      jobId: isDry ? null : jobId,
      serverId: target.id,
      transferId: isDry ? null : transferId,
      to: { id: chosen.nodeId, name: chosen.name },
      ...foreseen,
    }
  },
})
