// The nodes that reach a backup. One that made it may be gone: then another one reads or deletes it, but for a folder
// of that node, which is gone with it.
import { isGoneNode, liveNodesNear } from '../../fleet/node-records/queries.ts'
import type { Db } from '../../kernel/db/open.ts'
import { backupTargetById, nodesWithLogin } from '../backup-target-records/queries.ts'
import type { Backup } from './tables.ts'

type Lying = Pick<Backup, 'targetId' | 'nodeId'>

/** A folder of a node: no other node reaches it. */
export const isOnNodeOnly = (tx: Db, { targetId }: Pick<Backup, 'targetId'>): boolean =>
  backupTargetById(tx, targetId)?.kind === 'local'

/**
 * The node that made it before all others. None: it lay in a folder of a node that is gone, there is no node, or none
 * has the login that it needs.
 */
export function nodesReaching(tx: Db, backup: Lying): string[] {
  if (isOnNodeOnly(tx, backup)) return isGoneNode(tx, backup.nodeId) ? [] : [backup.nodeId]
  return nodesWithLogin(tx, backup.targetId, liveNodesNear(tx, backup.nodeId))
}

/** Did it lie in a folder of a node that is gone? Then there is nothing left of it. */
export const isGoneWithNode = (tx: Db, backup: Lying): boolean =>
  isOnNodeOnly(tx, backup) && isGoneNode(tx, backup.nodeId)
