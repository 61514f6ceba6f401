-- The second half of imports: each server that is moved, and what bounds it.
-- JSON: how many servers at once per hypervisor and per node, the megabit per second, and the hours of the day.
ALTER TABLE imports ADD COLUMN limits TEXT NOT NULL DEFAULT '{"perHypervisor":2,"perNode":2,"maxMbps":null,"window":null,"method":"short_stop"}';
-- Owners are mailed the new addresses of their servers.
ALTER TABLE imports ADD COLUMN emails_owners INTEGER NOT NULL DEFAULT 0;
-- No further server begins; null: it goes on.
ALTER TABLE imports ADD COLUMN paused_at INTEGER;
-- Servers that had not begun by then wait for a start of their own; null: all of them begin.
ALTER TABLE imports ADD COLUMN stops_after INTEGER;
-- When the last of its servers came to an end.
ALTER TABLE imports ADD COLUMN migrated_at INTEGER;

-- One row per server that was to be moved.
CREATE TABLE import_moves (
  server_id TEXT PRIMARY KEY REFERENCES import_servers (id) ON DELETE CASCADE,
  import_id TEXT NOT NULL REFERENCES imports (id),
  -- The id of the hypervisor in the other panel.
  hypervisor_id TEXT NOT NULL,
  -- In this order servers begin.
  position INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'moving', 'moved', 'failed', 'rolling_back', 'rolled_back')),
  way TEXT NOT NULL CHECK (way IN ('copy', 'adopt')),
  method TEXT NOT NULL CHECK (method IN ('short_stop', 'plain')),
  -- When somebody asked for it alone, also after the import was stopped.
  asked_at INTEGER,
  -- A node that staff asked for; null: the rule of the location chooses.
  wanted_node_id TEXT,
  -- Of the last attempt.
  node_id TEXT,
  workload_id TEXT,
  job_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Why the last attempt failed: a code, and a sentence for everybody.
  failure TEXT,
  failure_words TEXT,
  failed_at INTEGER,
  where_it_runs TEXT NOT NULL DEFAULT 'source' CHECK (where_it_runs IN ('source', 'here', 'nowhere', 'unknown')),
  was_running INTEGER,
  is_persistent INTEGER,
  -- JSON: its disk at the source, as the dry run found it.
  drive TEXT,
  -- Its definition at the source, without its passwords.
  definition TEXT,
  bytes_total INTEGER,
  bytes_copied INTEGER,
  began_at INTEGER,
  -- When it was shut down at the source, and when it was started here.
  stopped_at INTEGER,
  started_at INTEGER,
  moved_at INTEGER,
  downtime_ms INTEGER,
  expected_away_seconds INTEGER,
  -- JSON: what was checked after it had moved.
  checks TEXT,
  checked_at INTEGER,
  -- JSON: who has marked it as fine.
  accepted_by TEXT,
  accepted_at INTEGER,
  rolled_back_at INTEGER
) STRICT;
CREATE INDEX import_moves_state ON import_moves (import_id, state, position);
CREATE INDEX import_moves_work ON import_moves (state, hypervisor_id);
CREATE INDEX import_moves_workload ON import_moves (workload_id) WHERE workload_id IS NOT NULL;
CREATE INDEX import_moves_job ON import_moves (job_id) WHERE job_id IS NOT NULL;

-- Each attempt to move a server, or to roll it back, is a job of its own.
CREATE TABLE import_attempts (
  server_id TEXT NOT NULL REFERENCES import_servers (id) ON DELETE CASCADE,
  n INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  workload_id TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (server_id, n)
) STRICT, WITHOUT ROWID;

-- What a copy or an adoption needs of the disk besides, and the model of the network card.
ALTER TABLE import_checks ADD COLUMN disk_holder TEXT;
ALTER TABLE import_checks ADD COLUMN disk_backing TEXT;
ALTER TABLE import_checks ADD COLUMN nic_model TEXT;
-- The way that it takes when it moves, as the estimate has it.
ALTER TABLE import_checks ADD COLUMN method TEXT;
