// Rolling maintenance: several nodes are emptied one after another, each worked on and filled again.
import { Type as t } from 'typebox'
import { described, namedSchema, nullable, type Resource, time } from '../../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { aNode } from '../../transfers/model.ts'
import { named } from '../model.ts'
import { type Rolling, rollingById } from './queries.ts'
import { rollingPhases, rollingStates, signals } from './tables.ts'

export const rolling: Resource<Rolling> = {
  name: 'rolling maintenance',
  notFound: 'rolling_maintenance_not_found',
  find: (tx, actor, id) => (actor.kind === 'staff' ? rollingById(tx, id) : undefined),
}

/** How far one of its nodes is. */
const rollingNodeStates = ['waiting', 'at_hand', 'done', 'skipped'] as const

export const rollingResponse = namedSchema('RollingMaintenance', {
  id: t.String(),
  state: described(
    t.Enum([...rollingStates]),
    'paused: it stopped at the node at hand and waits for a person; the reason says why.',
  ),
  nodes: described(
    t.Array(t.Object({ ...aNode.properties, state: t.Enum([...rollingNodeStates]) })),
    'In their order.',
  ),
  node: described(nullable(aNode), 'The node at hand; null when it has ended.'),
  phase: described(
    t.Enum([...rollingPhases]),
    'working: the node is empty and waits for the sign that its work is done.',
  ),
  done: described(t.Integer(), 'Nodes whose maintenance is over.'),
  waitsFor: described(
    t.Enum([...signals]),
    'person: for `rolling.confirm`. reboot: also until the node has restarted.',
  ),
  bringBack: t.Boolean(),
  drainId: described(nullable(t.String()), 'The drain at work, or the last one.'),
  reason: nullable(t.String()),
  startedBy: t.Object({ id: t.String(), name: t.String() }),
  createdAt: time,
  finishedAt: nullable(time),
})

export function showRolling(tx: Db, row: Rolling) {
  const nodes = row.nodeIds.map((id, place) => ({ ...named(tx, id), state: stateOf(row, id, place) }))
  const atHand = nodes[row.position]
  return {
    id: row.id,
    state: row.state,
    nodes,
    node: row.finishedAt === null && atHand ? { id: atHand.id, name: atHand.name } : null,
    phase: row.phase,
    done: nodes.filter(({ state }) => state === 'done').length,
    waitsFor: row.waitsFor,
    bringBack: row.bringBack,
    drainId: row.drainId,
    reason: row.reason,
    startedBy: row.startedBy,
    createdAt: iso(row.createdAt),
    finishedAt: isoOrNull(row.finishedAt),
  }
}

function stateOf({ skippedIds, position, finishedAt }: Rolling, id: string, place: number) {
  if (skippedIds.includes(id)) return 'skipped' as const
  if (place < position) return 'done' as const
  return place === position && finishedAt === null ? ('at_hand' as const) : ('waiting' as const)
}
