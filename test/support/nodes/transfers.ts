import { newId } from '../../../src/kernel/db/ids.ts'
import type { World } from '../world/panel.ts'

/** The record of a move of the server that has ended, from its node and back; answers its id. */
export function addTransfer(p: Pick<World, 'db' | 'now'>, serverId: string): string {
  const id = newId('trf')
  p.db.$client.run(
    `INSERT INTO transfers SELECT ?1, w.id, 'cold', 'finished', w.node_id, w.node_id, NULL,
       '{"id":"usr_x","name":"Ada"}', NULL, 1024, 1024, 60, 40000, ?2, ?2, 41250, NULL, ?2, ?2
     FROM workloads w WHERE w.id = ?3`,
    [id, p.now(), serverId],
  )
  return id
}
