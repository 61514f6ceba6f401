import { nodeById } from '../../fleet/node-records/queries.ts'
import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { openRollOut, rollOutNode } from './queries.ts'
import { getRollOut } from './roll-outs.ts'
import { headlineOf } from './stop.ts'

/** A roll-out that stopped at a node. */
export const stoppedRollOut: Source = ({ tx, actor }) => {
  const row = mayCall(getRollOut, actor) ? openRollOut(tx) : undefined
  if (row?.state !== 'paused' || row.failedNodeId === null) return []
  const member = rollOutNode(tx, row.id, row.failedNodeId)!
  const { name } = nodeById(tx, row.failedNodeId)!
  return [
    {
      level: 'bad',
      what: `${headlineOf(name, member)}: the roll-out of ${row.version} has stopped.`,
      effect: `${row.reason} Its servers run on. No further node is updated until you go on, or stop the roll-out.`,
      since: isoOrNull(row.pausedAt),
      action: 'Open roll-out',
      href: `/admin/roll-outs/${row.id}`,
    },
  ]
}
