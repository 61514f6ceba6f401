-- Emptying a node for maintenance, and bringing its servers back. One is at work on a node at a time.
CREATE TABLE drains (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('drain', 'return')),
  -- The node that is emptied, or to which servers come back.
  node_id TEXT NOT NULL REFERENCES nodes (id),
  state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'cancelling', 'cancelled', 'done')),
  paused_by TEXT CHECK (paused_by IN ('person', 'failure')),
  -- The drain whose servers come back.
  of_drain_id TEXT REFERENCES drains (id),
  -- The parent of its moves.
  job_id TEXT NOT NULL,
  at_once INTEGER NOT NULL,
  max_mbps INTEGER,
  on_failure TEXT NOT NULL CHECK (on_failure IN ('continue', 'pause')),
  -- JSON: the account and its name then.
  started_by TEXT NOT NULL,
  -- As it was planned.
  expected_seconds INTEGER NOT NULL,
  -- When the host had booted, as it said then: a later value means that it was restarted.
  booted_at INTEGER NOT NULL,
  paused_at INTEGER,
  paused_ms INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  -- When the node was opened again after it, and its servers brought back or left.
  returned_at INTEGER
) STRICT;
CREATE UNIQUE INDEX drains_at_work ON drains (node_id) WHERE finished_at IS NULL;
CREATE INDEX drains_node ON drains (node_id, id);
CREATE INDEX drains_open ON drains (id) WHERE finished_at IS NULL;

CREATE TABLE drain_servers (
  drain_id TEXT NOT NULL REFERENCES drains (id),
  workload_id TEXT NOT NULL REFERENCES workloads (id),
  -- The order in which they move.
  position INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'moving', 'moved', 'failed', 'left', 'gone', 'stopping', 'stopped')),
  hostname TEXT NOT NULL,
  -- As it was planned; null: it could not move.
  mode TEXT,
  to_node_id TEXT REFERENCES nodes (id),
  bytes INTEGER NOT NULL,
  expected_seconds INTEGER NOT NULL,
  expected_downtime_ms INTEGER NOT NULL,
  transfer_id TEXT,
  -- The job that stops it or starts it again.
  power_job_id TEXT,
  -- Its move is cancelled so that it moves later.
  moves_later INTEGER NOT NULL DEFAULT 0,
  -- Not tried before, in ms, because something else works on it.
  not_before INTEGER,
  tries INTEGER NOT NULL DEFAULT 0,
  -- Why it failed, was left or waits, in words.
  reason TEXT,
  ended_at INTEGER,
  PRIMARY KEY (drain_id, workload_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX drain_servers_state ON drain_servers (drain_id, state, position);
