// Nodes whose servers an import adopted, and what still depends on the other panel there.
import { type Db, prepared } from '../../../kernel/db/open.ts'

/** `servers`: those of the hypervisor that have moved and stay there. */
export type AdoptedNode = { nodeId: string; hypervisorId: string; servers: number }

/** Servers that stay at the source: no import has moved them. */
const STAYS = `s.state NOT IN ('moved', 'already_moved') AND NOT EXISTS
  (SELECT 1 FROM import_servers o WHERE o.identity = s.identity AND o.state = 'moved')`

const statements = prepared(({ $client }) => ({
  nodes: $client.prepare<AdoptedNode, [string]>(
    `SELECT node_id AS nodeId, min(hypervisor_id) AS hypervisorId, count(*) AS servers FROM import_moves
     WHERE import_id = ? AND state = 'moved' AND way = 'adopt' AND node_id IS NOT NULL
     GROUP BY node_id ORDER BY hypervisorId`,
  ),
  left: $client.prepare<{ here: number; elsewhere: number }, [string, string]>(
    `SELECT coalesce(sum(s.hypervisor_id = ?2), 0) AS here, coalesce(sum(s.hypervisor_id <> ?2), 0) AS elsewhere
     FROM import_servers s WHERE s.import_id = ?1 AND ${STAYS}`,
  ),
  open: $client.prepare<{ n: number }, [string]>(
    `SELECT count(*) AS n FROM import_moves m JOIN imports i ON i.id = m.import_id
     WHERE m.node_id = ? AND m.way = 'adopt' AND m.state IN ('moving', 'moved', 'rolling_back')
       AND i.status IN ('migrating', 'verifying')`,
  ),
}))

export const adoptedNodes = (tx: Db, importId: string): AdoptedNode[] => statements(tx).nodes.all(importId)
/** Servers of the other panel that no import has moved: on this hypervisor, and on the others. */
export const stillAtSource = (tx: Db, importId: string, hypervisorId: string) =>
  statements(tx).left.get(importId, hypervisorId)!
/** Servers that an unfinished import has adopted on the node, so that they can still be rolled back. */
export const canBeRolledBack = (tx: Db, nodeId: string): number => statements(tx).open.get(nodeId)!.n
