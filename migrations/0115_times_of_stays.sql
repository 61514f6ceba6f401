-- When each stay began: a node tells of the time in which it held the workload, and of no other.
ALTER TABLE workload_stays ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
UPDATE workload_stays SET since = (SELECT created_at FROM workloads w WHERE w.id = workload_id);

-- A workload may have been on a node several times.
CREATE TABLE workload_past_stays_by_time (
  workload_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (workload_id, node_id, since)
) STRICT, WITHOUT ROWID;
INSERT INTO workload_past_stays_by_time
  SELECT p.workload_id, p.node_id, min(coalesce(w.created_at, 0), p.until), p.until
  FROM workload_past_stays p LEFT JOIN workloads w ON w.id = p.workload_id;
-- A home that was given back is one, too.
INSERT OR IGNORE INTO workload_past_stays_by_time
  SELECT id, node_id, min(created_at, released_at), released_at FROM workloads WHERE released_at IS NOT NULL;
DROP TABLE workload_past_stays;
ALTER TABLE workload_past_stays_by_time RENAME TO workload_past_stays;
CREATE INDEX workload_past_stays_until ON workload_past_stays (until);
