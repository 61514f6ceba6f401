// A server of a drain that could not move: where its move stopped, how the server is now, and which nodes take it.
import { Type as t } from 'typebox'
import { stayOn } from '../../fleet/workloads/stays/queries.ts'
import { described, namedSchema, nullable } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { serverById } from '../server-records/model.ts'
import { aNode } from '../transfers/model.ts'
import { fits, judgeNodes } from '../transfers/nodes.ts'
import { phasesOf } from '../transfers/progress/phases.ts'
import { transferById } from '../transfers/queries.ts'
import { runs } from './plan/node-plan.ts'
import type { DrainServer } from './queries.ts'

export const failureResponse = namedSchema('DrainFailure', {
  phase: described(
    nullable(t.Object({ title: t.String(), n: t.Integer(), of: t.Integer() })),
    'Where its move stopped; null: it did not begin.',
  ),
  running: described(t.Boolean(), 'The server runs where it is.'),
  wasOff: described(t.Boolean(), 'The move had shut it down for a time.'),
  isLeftThere: described(t.Boolean(), 'Something of it is on the other node still, and is being deleted.'),
  nodes: described(t.Array(t.Object({ ...aNode.properties, freeDiskGb: t.Integer() })), 'Nodes that take it now.'),
})

type Nodes = Parameters<typeof judgeNodes>[1]
/** At most so many nodes are named. */
const NAMED = 20

/** Undefined where the server is gone. */
export function failureOf(tx: Db, nodes: Nodes, { workloadId, transferId }: DrainServer) {
  const server = serverById(tx, workloadId)
  if (!server || server.terminatedAt !== null) return undefined
  const transfer = transferId === null ? undefined : transferById(tx, transferId)
  const phases = transfer ? phasesOf(tx, transfer) : []
  const at = phases.findLastIndex(({ state }) => state === 'undone')
  return {
    phase: at < 0 ? null : { title: phases[at]!.title, n: at + 1, of: phases.length },
    running: runs(server),
    wasOff: (transfer?.downtimeMs ?? 0) > 0,
    isLeftThere: transfer ? stayOn(tx, workloadId, transfer.toNodeId) !== undefined : false,
    nodes: judgeNodes(tx, nodes, server)
      .filter(fits)
      .slice(0, NAMED)
      .map(({ nodeId, name, pool, capacity }) => ({
        ...{ id: nodeId, name },
        freeDiskGb: Math.floor(capacity?.pools.find((one) => one.name === pool)?.freeDiskGb ?? 0),
      })),
  }
}
