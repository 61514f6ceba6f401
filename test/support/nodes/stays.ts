// Stays against what follows from them: after every job, each node and pool counts each workload once.
import type { Db } from '../../../src/kernel/db/open.ts'

type Checked = { words: string }
/** Each finds what must not be, in words. */
const checks = [
  `SELECT w.id || ' has ' || count(s.workload_id) || ' homes' AS words FROM workloads w
   LEFT JOIN workload_stays s ON s.workload_id = w.id AND s.role = 'home'
   GROUP BY w.id HAVING count(s.workload_id) <> (w.released_at IS NULL)`,
  `SELECT w.id || ' is at home on ' || s.node_id || ' in ' || s.pool || ', its record says ' || w.node_id ||
     ' in ' || w.pool AS words
   FROM workload_stays s JOIN workloads w ON w.id = s.workload_id
   WHERE s.role = 'home' AND (s.node_id <> w.node_id OR s.pool <> w.pool)`,
  `SELECT w.id || ' holds ' || s.vcpus || ' vCPU ' || s.memory_mb || ' MB ' || s.disk_gb ||
     ' GB at home, its record says ' || w.vcpus || ' vCPU ' || w.memory_mb || ' MB ' || w.disk_gb || ' GB' AS words
   FROM workload_stays s JOIN workloads w ON w.id = s.workload_id
   WHERE s.role = 'home' AND (s.vcpus <> w.vcpus OR s.disk_gb <> w.disk_gb
     OR (s.memory_mb <> w.memory_mb AND NOT (s.memory_mb = 0 AND w.lifecycle = 'terminated')))`,
  `SELECT s.workload_id || ' is ' || s.role || ' on ' || s.node_id || ', and no job works on it' AS words
   FROM workload_stays s WHERE s.role <> 'home'
     AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.subject_id = s.workload_id
       AND (j.state IN ('queued', 'running', 'undoing') OR j.undo_node_id IS NOT NULL))`,
  `WITH counted AS (
     SELECT node_id, sum(workloads) AS n, sum(memory_mb) AS mb, sum(disk_gb) AS gb FROM (HELD) GROUP BY 1)
   SELECT 'the sum of ' || node_id || ' is not ' || n || ' workloads ' || mb || ' MB ' || gb || ' GB' AS words FROM (
     SELECT * FROM counted WHERE n <> 0 OR mb <> 0 OR gb <> 0
     EXCEPT SELECT node_id, workloads, memory_mb, disk_gb FROM node_held)
   UNION ALL SELECT 'the sum of ' || node_id || ' is ' || n || ' workloads ' || mb || ' MB ' || gb || ' GB' FROM (
     SELECT node_id, workloads AS n, memory_mb AS mb, disk_gb AS gb FROM node_held
     WHERE workloads <> 0 OR memory_mb <> 0 OR disk_gb <> 0 EXCEPT SELECT * FROM counted)`,
  `WITH counted AS (SELECT node_id, pool, sum(disk_gb) AS gb FROM (HELD) GROUP BY 1, 2)
   SELECT 'the sum of ' || pool || ' on ' || node_id || ' is not ' || gb || ' GB' AS words FROM (
     SELECT * FROM counted WHERE gb <> 0 EXCEPT SELECT node_id, pool, disk_gb FROM storage_held)
   UNION ALL SELECT 'the sum of ' || pool || ' on ' || node_id || ' is ' || gb || ' GB' FROM (
     SELECT node_id, pool, disk_gb AS gb FROM storage_held WHERE disk_gb <> 0 EXCEPT SELECT * FROM counted)`,
  `SELECT 'the space of ' || name || ' is not ' || rank AS words FROM (
     SELECT * FROM node_spaces_due EXCEPT SELECT * FROM node_spaces)
   UNION ALL SELECT name || ' has the space ' || rank || ', which is not so' FROM (
     SELECT * FROM node_spaces EXCEPT SELECT * FROM node_spaces_due)`,
  `SELECT c.workload_id || ' holds the card ' || c.id || ' of ' || c.node_id || ', where it has no stay' AS words
   FROM gpu_cards c LEFT JOIN workload_stays s ON s.workload_id = c.workload_id AND s.node_id = c.node_id
   WHERE c.workload_id IS NOT NULL AND s.workload_id IS NULL`,
  `SELECT p.workload_id || ' holds the port ' || p.port || ' of ' || p.node_id || ', where it has no stay' AS words
   FROM gpu_ports p LEFT JOIN workload_stays s ON s.workload_id = p.workload_id AND s.node_id = p.node_id
   WHERE s.workload_id IS NULL`,
]
/** Everything that counts in the sums of nodes and pools. */
const HELD = `SELECT node_id, pool, 1 AS workloads, memory_mb, disk_gb + spare_disk_gb AS disk_gb FROM workload_stays
  UNION ALL SELECT node_id, pool, 0, 0, disk_gb FROM workload_stay_volumes
  UNION ALL SELECT node_id, pool, 0, 0, held_gb FROM volumes
  UNION ALL SELECT node_id, pool, 0, memory_mb, disk_gb FROM node_guests`

/** The faults of the stays of a database whose jobs have ended, in words; empty: there are none. */
export const stayFaults = ({ $client }: Db): string[] =>
  checks.flatMap((sql) =>
    $client
      .query<Checked, []>(sql.replace('HELD', HELD))
      .all()
      .map(({ words }) => words),
  )
