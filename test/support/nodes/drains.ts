import { newId } from '../../../src/kernel/db/ids.ts'
import type { World } from '../world/panel.ts'

/** The record of maintenance of this node alone, which is being emptied or has ended; answers its id. */
export function addRolling(
  p: Pick<World, 'db' | 'now'>,
  nodeId: string,
  drainId: string,
  state: 'running' | 'cancelled' = 'running',
): string {
  const id = newId('rol')
  p.db.$client.run(
    `INSERT INTO rolling_drains VALUES (?1, ?5, 'draining', json_array(?2), 0, '[]', 'person', 0, NULL, NULL, ?3,
       NULL, '{"id":"usr_x","name":"Ada"}', ?4, iif(?5 = 'running', NULL, ?4))`,
    [id, nodeId, drainId, p.now(), state],
  )
  return id
}

/** The record of a drain of the node that has ended, with its job, and this server; answers its id. */
export function addDrain(p: Pick<World, 'db' | 'now'>, nodeId: string, serverId: string): string {
  const [id, jobId] = [newId('drn'), newId('job')]
  p.db.$client.run(
    `INSERT INTO jobs (id, kind, title, input, state, subject_type, subject_id, lane, started_by_type, started_by_id,
       started_by_name, created_at, started_at, finished_at, progress, step_n, step_of, tries)
     SELECT ?1, 'drain', 'Drain ' || n.name, json_object('drainId', ?2), 'succeeded', 'node', n.id, 'interactive',
       'person', 'usr_x', 'Ada', ?3, ?3, ?3, 100, 1, 1, 0 FROM nodes n WHERE n.id = ?4`,
    [jobId, id, p.now(), nodeId],
  )
  p.db.$client.run(
    `INSERT INTO drains VALUES (?1, 'drain', ?2, 'done', NULL, NULL, ?3, 2, NULL, 'continue',
       '{"id":"usr_x","name":"Ada"}', 60, 0, NULL, 0, ?4, ?4, NULL, NULL)`,
    [id, nodeId, jobId, p.now()],
  )
  p.db.$client.run(
    `INSERT INTO drain_servers SELECT ?1, w.id, 0, 'gone', w.hostname, NULL, NULL, 0, 0, 0, NULL, NULL, 0, NULL, 0,
       'It was moved by somebody else.', ?2, NULL, NULL FROM workloads w WHERE w.id = ?3`,
    [id, p.now(), serverId],
  )
  return id
}
