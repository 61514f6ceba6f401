import { newId } from '../../../src/kernel/db/ids.ts'
import type { World } from '../world/panel.ts'

/** The record of a move of the server that has ended, from its node and back; answers its id. */
export function addTransfer(p: Pick<World, 'db' | 'now'>, serverId: string): string {
  const id = newId('trf')
  p.db.$client.run(
    `INSERT INTO transfers (id, server_id, mode, state, from_node_id, to_node_id, job_id, started_by,
       max_mbps, bytes_total, bytes_copied, expected_seconds, expected_downtime_ms, began_at, stopped_at, downtime_ms,
       error, created_at, finished_at)
     SELECT ?1, w.id, 'cold', 'finished', w.node_id, w.node_id, NULL,
       '{"id":"usr_x","name":"Ada"}', NULL, 1024, 1024, 60, 40000, ?2, ?2, 41250, NULL, ?2, ?2
     FROM workloads w WHERE w.id = ?3`,
    [id, p.now(), serverId],
  )
  return id
}
