// The forecast of a move, for every node: possible or why not, how, for how long, and with which effects for the owner.
import { Type as t } from 'typebox'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { described, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { oneOf, wholeNumber } from '../../kernel/api/query.ts'
import { type Server, server } from '../server-records/model.ts'
import { refusalOf } from '../snapshots/model.ts'
import { forecast, MOST_MBPS, type MoveMode, moveModes } from './forecast.ts'
import { aNode, modeField } from './model.ts'
import { mustBeMovable } from './movable.ts'
import { fits, type JudgedNode, judgeNodes } from './nodes.ts'

const option = namedSchema('MoveOption', {
  node: aNode,
  possible: t.Boolean(),
  reason: described(nullable(t.String()), 'Why it is not possible, in the words of placement.'),
  note: described(nullable(t.String()), 'What speaks against it, such as the soft rule of a placement group.'),
  memoryPercent: described(nullable(t.Integer()), 'Of its memory that is held now.'),
  memoryPercentAfter: nullable(t.Integer()),
})

export const moveOptions = operation({
  id: 'servers.move-options',
  method: 'GET',
  path: '/admin/servers/{id}/move-options',
  summary: 'To which nodes a server can be moved, how, and for how long it would be off',
  access: { staff: ['servers:move'] },
  on: server,
  query: {
    mode: oneOf(moveModes, 'As in the move. Without it: auto.'),
    maxMbps: wholeNumber('As in the move, in megabit per second.', 1, { maximum: MOST_MBPS }),
  },
  response: namedSchema('MoveOptions', {
    server: t.Object({ id: t.String(), hostname: t.String() }),
    from: aNode,
    notMovable: described(
      nullable(t.String()),
      'Why it cannot be moved to any node now, and what to do; null: it can.',
    ),
    mode: modeField,
    bytes: described(t.Integer(), 'To be copied at most: holes of its disks are not.'),
    expectedSeconds: t.Integer(),
    expectedDowntimeMs: described(t.Integer(), 'How long its system is off for it; 0 where it is off already.'),
    changes: described(t.Array(t.String()), 'What its owner notices, in sentences.'),
    chosen: described(nullable(aNode), 'The node that placement chooses; null: none fits.'),
    nodes: t.Array(option),
  }),
  run(call) {
    const { tx, actor, target, query, nodes } = call
    const maxMbps = query['maxMbps'] === undefined ? undefined : Number(query['maxMbps'])
    const judged = judgeNodes(tx, nodes, target)
    const chosen = judged.find(fits)
    return {
      server: { id: target.id, hostname: target.hostname },
      from: { id: target.nodeId, name: nodeById(tx, target.nodeId)?.name ?? '' },
      notMovable: refusalOf(() => mustBeMovable(tx, actor, target)),
      ...forecast(tx, target, { mode: (query['mode'] as MoveMode | undefined) ?? 'auto', maxMbps }),
      chosen: chosen ? { id: chosen.nodeId, name: chosen.name } : null,
      nodes: judged.map((node) => shown(node, target)),
    }
  },
})

function shown(judged: JudgedNode, { memoryMb }: Server) {
  const { nodeId, name, capacity, disabledReason } = judged
  const percent = (heldMb: number) => (capacity?.memoryMb ? Math.round((100 * heldMb) / capacity.memoryMb) : null)
  return {
    node: { id: nodeId, name },
    possible: disabledReason === undefined,
    reason: disabledReason ?? null,
    note: (fits(judged) && judged.broken) || null,
    memoryPercent: capacity ? percent(capacity.heldMemoryMb) : null,
    memoryPercentAfter: capacity ? percent(capacity.heldMemoryMb + memoryMb) : null,
  }
}
