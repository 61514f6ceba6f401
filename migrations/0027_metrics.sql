-- The use of workloads over time: `slots` points of all series, packed (src/platform/metrics/blocks.ts). The key starts
-- with the time: rows that are written together lie together, and old ones are deleted from one end.
CREATE TABLE metric_blocks (
  tier INTEGER NOT NULL,
  block INTEGER NOT NULL,
  workload_id TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (tier, block, workload_id)
) STRICT, WITHOUT ROWID;

-- A threshold of a server, and whether it is exceeded now.
CREATE TABLE alerts (
  id TEXT PRIMARY KEY,
  workload_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  threshold INTEGER,
  minutes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- Since when it fires; null: it does not.
  fired_at INTEGER
) STRICT;
CREATE INDEX alerts_workload ON alerts (workload_id);
CREATE INDEX alerts_firing ON alerts (fired_at) WHERE fired_at IS NOT NULL;

-- What alerts did, for the timeline of a server.
CREATE TABLE alert_changes (
  id TEXT PRIMARY KEY,
  workload_id TEXT NOT NULL,
  alert_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  fired INTEGER NOT NULL,
  description TEXT NOT NULL
) STRICT;
CREATE INDEX alert_changes_workload ON alert_changes (workload_id, at);
CREATE INDEX alert_changes_at ON alert_changes (at);
