// Suggestions that bring nodes of a location from nearly full to less, and the one click that begins these moves.
import { Type as t } from 'typebox'
import { location } from '../../fleet/locations/model.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import type { NodeCapacity } from '../../fleet/placement/capacity.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { beginMove } from '../transfers/job/begin.ts'
import { aNode, modeField } from '../transfers/model.ts'
import { limitOf, MOST_MOVES, planBalance } from './plan.ts'

const id = t.String({ minLength: 1, maxLength: 40 })
const percent = described(nullable(t.Integer()), 'Null: it has none.')

export const getBalance = operation({
  id: 'balance.get',
  method: 'GET',
  path: '/admin/node-groups/{id}/balance',
  summary: 'Which moves would relieve the nodes of a location that are nearly full',
  access: { staff: ['servers:move'] },
  on: location,
  response: namedSchema('Balance', {
    location: locationReferred,
    limitPercent: described(t.Integer(), 'Nodes above it are relieved, and no node is filled up to it.'),
    nodes: t.Array(
      t.Object({
        node: aNode,
        memoryPercent: percent,
        memoryPercentAfter: percent,
        diskPercent: percent,
        diskPercentAfter: percent,
      }),
    ),
    moves: described(
      t.Array(
        t.Object({
          server: t.Object({ id: t.String(), hostname: t.String() }),
          from: aNode,
          to: aNode,
          mode: modeField,
          bytes: described(t.Integer(), 'To be copied at most.'),
          expectedSeconds: t.Integer(),
          expectedDowntimeMs: t.Integer(),
        }),
      ),
      `At most ${MOST_MOVES}. They keep the rules of placement groups, also soft ones.`,
    ),
  }),
  run(call) {
    const { target } = call
    const { moves, nodes } = planBalance(call, target)
    return {
      location: { id: target.id, name: target.name },
      limitPercent: limitOf(target),
      nodes: nodes.map(({ id, name, before, after }) => ({
        node: { id, name },
        memoryPercent: memoryPercent(before),
        memoryPercentAfter: memoryPercent(after),
        diskPercent: diskPercent(before),
        diskPercentAfter: diskPercent(after),
      })),
      moves: moves.map(({ server, from, to, foreseen }) => ({
        server: { id: server.id, hostname: server.hostname },
        from,
        to,
        mode: foreseen.mode,
        bytes: foreseen.bytes,
        expectedSeconds: foreseen.expectedSeconds,
        expectedDowntimeMs: foreseen.expectedDowntimeMs,
      })),
    }
  },
})

const percentOf = (held: number, all: number) => (all ? Math.round((100 * held) / all) : null)
const memoryPercent = ({ heldMemoryMb, memoryMb }: NodeCapacity) => percentOf(heldMemoryMb, memoryMb)
const diskPercent = ({ heldDiskGb, diskGb }: NodeCapacity) => percentOf(heldDiskGb, diskGb)

export const applyBalance = operation({
  id: 'balance.apply',
  method: 'POST',
  path: '/admin/node-groups/{id}/actions/balance',
  summary: 'Begin moves that were suggested, all of them or none',
  past: 'Started suggested moves',
  access: { staff: ['servers:move'] },
  on: location,
  body: fields({
    moves: t.Array(t.Object({ serverId: id, nodeId: id }, { additionalProperties: false }), {
      minItems: 1,
      maxItems: MOST_MOVES,
    }),
  }),
  response: namedSchema('BalanceBegun', {
    transfers: t.Array(t.Object({ serverId: t.String(), transferId: t.String(), jobId: nullable(t.String()) })),
  }),
  status: 202,
  // Sent again it is refused: a server that moves is suggested no more.
  refuses: ['balance_changed'],
  example: { moves: [{ serverId: '<server_id>', nodeId: '<node_id>' }] },
  run(call) {
    const { target, body } = call
    const present = planBalance(call, target).moves
    const isWanted = (move: (typeof present)[number]) =>
      body.moves.some(({ serverId, nodeId }) => serverId === move.server.id && nodeId === move.to.id)
    if (body.moves.length !== present.length || !present.every(isWanted))
      throw new ApiError(
        'balance_changed',
        `The servers or the nodes of ${target.name} have changed, so these moves are not suggested any more. Nothing ` +
          'was moved; look at the suggestions again.',
      )
    const transfers = present.map(({ server, to }) => {
      const { transferId, jobId } = beginMove({ ...call, target: server, body: { nodeId: to.id } })
      return { serverId: server.id, transferId, jobId }
    })
    return { transfers }
  },
})
