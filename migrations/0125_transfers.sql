-- Moves of servers between nodes. A server has one at work at a time.
CREATE TABLE transfers (
  id TEXT PRIMARY KEY,
  server_id TEXT NOT NULL REFERENCES workloads (id),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'near_live', 'cold', 'reassigned')),
  state TEXT NOT NULL CHECK (state IN ('queued', 'copying', 'switching', 'finished', 'failed', 'cancelled')),
  from_node_id TEXT NOT NULL REFERENCES nodes (id),
  to_node_id TEXT NOT NULL REFERENCES nodes (id),
  -- Null where nothing had to be copied.
  job_id TEXT,
  -- JSON: the account and its name then.
  started_by TEXT NOT NULL,
  max_mbps INTEGER,
  -- The data of its disks: at most, until the node has looked.
  bytes_total INTEGER NOT NULL,
  bytes_copied INTEGER NOT NULL DEFAULT 0,
  expected_seconds INTEGER NOT NULL,
  expected_downtime_ms INTEGER NOT NULL,
  -- When the copy began, and when the guest was told to shut down; in ms.
  began_at INTEGER,
  stopped_at INTEGER,
  downtime_ms INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE UNIQUE INDEX transfers_at_work ON transfers (server_id) WHERE finished_at IS NULL;
CREATE INDEX transfers_server ON transfers (server_id, id);
CREATE INDEX transfers_from ON transfers (from_node_id, id);
CREATE INDEX transfers_to ON transfers (to_node_id, id);
CREATE INDEX transfers_job ON transfers (job_id);
