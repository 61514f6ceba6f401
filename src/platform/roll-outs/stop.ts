// A node that failed stops the roll-out: staff who may go on with it are told, and no further node begins.
import { Type as t } from 'typebox'
import { nodeById } from '../../fleet/node-records/queries.ts'
import { activeStaffWith } from '../../identity/account-records/staff-with.ts'
import { notify } from '../../identity/notices/notify.ts'
import { system } from '../../kernel/api/actor.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { auditLine } from '../../kernel/audit/audit.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import { changeRollOut, changeRollOutNode, type RollOut, type RollOutNode } from './queries.ts'
import type { RollOutNodeState } from './tables.ts'

/** Names the audit line: no operation is called for it. */
export const NODE_FAILED = 'roll-outs.node-failed'

export const stoppedData = t.Object({
  rollOut: t.Object({ id: t.String(), version: t.String() }),
  node: t.Object({ id: t.String(), name: t.String() }),
  reason: t.String(),
})

export type Failure = { state: RollOutNodeState; code: string; reason: string }

/** The words with which a roll-out stops at a node. */
const headline: Partial<Record<RollOutNodeState, (name: string, row: RollOutNode) => string>> = {
  went_back: (name, { fromVersion }) => `${name} went back to ${fromVersion} by itself`,
  refused: (name) => `${name} refused the release`,
  failed: (name) => `${name} could not be updated`,
  not_back: (name) => `${name} does not answer since its update`,
}
export const headlineOf = (name: string, row: RollOutNode): string => headline[row.state]?.(name, row) ?? name

const concerning = ({ nodeId }: RollOutNode) => ({
  subject: { type: 'node', id: nodeId },
  customerId: null,
  resellerId: null,
})

/** Stops the roll-out at this node. One that is paused already stays so, and tells nobody again. */
export function stopAt(
  tx: Tx,
  app: AppContext,
  rollOut: RollOut,
  row: RollOutNode,
  { state, code, reason }: Failure,
): RollOut {
  const now = app.clock()
  const ended = { state, code, reason, endedAt: now }
  changeRollOutNode(tx, row, ended)
  if (rollOut.state !== 'running') return rollOut
  const paused = { state: 'paused', failedNodeId: row.nodeId, reason, pausedAt: now } as const
  changeRollOut(tx, rollOut.id, paused)
  const { name } = nodeById(tx, row.nodeId)!
  auditLine(tx, app, {
    ...{ actor: system, operation: NODE_FAILED, target: row.nodeId, from: '', requestId: '', result: 'done' },
    details: { rollOutId: rollOut.id, version: rollOut.version, state, code, reason },
  })
  emit(tx, now, 'roll_out.stopped', concerning(row), {
    rollOut: { id: rollOut.id, version: rollOut.version },
    node: { id: row.nodeId, name },
    reason,
  })
  for (const to of activeStaffWith(tx, app.registry, 'nodes.write'))
    notify(tx, app, to, 'roll_out_stopped', {
      subject: `The roll-out of ${rollOut.version} stopped at ${name}`,
      paragraphs: [
        `${headlineOf(name, { ...row, ...ended })}. ${reason}`,
        'Its servers run on, and no further node is updated until you or a colleague goes on.',
        'Try the node again, leave it out, or stop the roll-out.',
      ],
      button: { words: 'See the roll-out', path: `/admin/roll-outs/${rollOut.id}` },
    })
  return { ...rollOut, ...paused }
}
