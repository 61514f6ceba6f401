// A node that is lost for good: its machine burnt, or its disks did. Its workloads have failed, with the reason; their
// addresses stay held until each is restored elsewhere or terminated. What jobs still had to do or to undo there is
// dropped. A workload that only arrives or leaves there is at home elsewhere, and has lost nothing. Nor has one that a
// job brings back to the node that it was about to leave, as long as that node is there.

import { ApiError } from '../../kernel/api/errors.ts'
import { operation } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { emit } from '../../kernel/jobs/outbox.ts'
import type { Registry } from '../../kernel/registry.ts'
import { awaitNoLonger } from '../../network/ip-pools/awaited.ts'
import { node } from '../node-records/model.ts'
import { isGoneNode, openColumns, updateNode } from '../node-records/queries.ts'
import { endVolumeUseOn } from '../volume-records/queries.ts'
import { kindsByName } from '../workloads/kind.ts'
import { changeWorkload } from '../workloads/queries.ts'
import { closePassingOn } from '../workloads/stays/stays.ts'
import { confirmedName, heldBy, listed, MOST_LISTED, mustBeTyped, mustWaitForNobody, workloadList } from './model.ts'

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Does a job of the feature bring the workload back to another node, now that its home is lost? */
    bringsBack?(tx: Tx, workloadId: string): boolean
  }
}

/**
 * Everything at home on the node that no job brings back, and everything that a job was to bring back to this node.
 * Those that failed with their home before are left out, so that each loss is told once.
 */
function lostWith(tx: Tx, nodeId: string, { features }: Pick<Registry, 'features'>) {
  return heldBy(tx, nodeId).filter(({ id, role, nodeId: home, lifecycle }) =>
    role === 'home'
      ? !features.some(({ bringsBack }) => bringsBack?.(tx, id))
      : role === 'leaving' && lifecycle !== 'failed' && isGoneNode(tx, home),
  )
}

export const declareNodeLost = operation({
  id: 'nodes.declare-lost',
  destroys: ['nodes', 'servers'],
  method: 'POST',
  path: '/admin/nodes/{id}/actions/declare-lost',
  summary: 'Declare a node lost: everything on it has failed, and it is refused until it is enrolled again',
  access: { staff: ['nodes:write'] },
  tellsOwners: ({ name }) => `The node ${name} was declared lost: everything on it counts as failed.`,
  powers: ['loses_many'],
  on: node,
  body: confirmedName,
  response: workloadList,
  refuses: ['not_possible', 'already_done', 'node_held'],
  example: { name: 'fra-01' },
  run({ tx, actor, target, body, clock, nodes: live, registry }) {
    mustBeTyped(target, body.name)
    if (target.lostAt !== null) throw new ApiError('already_done', `${target.name} was declared lost before.`)
    if (live.connected(target.id))
      throw new ApiError('not_possible', `${target.name} is connected, so it is not lost. Switch it off first.`)
    mustWaitForNobody(tx, target)
    const now = clock()
    const held = lostWith(tx, target.id, registry)
    const kinds = kindsByName(registry)
    for (const { id, kind } of held) {
      changeWorkload(tx, id, { lifecycle: 'failed', failure: `Its node ${target.name} was lost.`, power: null })
      kinds.get(kind)?.lost?.(tx, id, { at: target.seenAt, now, by: actor })
    }
    closePassingOn(tx, target.id, now)
    updateNode(tx, target, { ...openColumns(false, now, null), lostAt: now, differences: [] })
    endVolumeUseOn(tx, target.id, now)
    awaitNoLonger(tx, target.id)
    emit(
      tx,
      now,
      'node.lost',
      { subject: { type: 'node', id: target.id }, customerId: null, resellerId: null },
      { node: { id: target.id, name: target.name }, workloads: held.map(listed) },
    )
    live.disconnect(target.id)
    return { workloads: held.slice(0, MOST_LISTED).map(listed), count: held.length }
  },
})
