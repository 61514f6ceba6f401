-- The agents of all nodes are brought to the version of the controller: one first, then the others in waves.
CREATE TABLE roll_outs (
  id TEXT PRIMARY KEY NOT NULL,
  version TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'paused', 'stopping', 'stopped', 'done')),
  -- 0: the first node.
  wave INTEGER NOT NULL,
  -- The nodes of the wave have ended and are watched until then.
  watch_until INTEGER,
  watch_seconds INTEGER NOT NULL,
  trial_seconds INTEGER NOT NULL,
  -- JSON: the time of day in which nodes of a location may begin.
  windows TEXT NOT NULL,
  -- The node at which it stopped, and why, in words; null where a person paused it.
  failed_node_id TEXT REFERENCES nodes (id),
  reason TEXT,
  paused_at INTEGER,
  -- JSON: the account that asked, and its name then.
  started_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT, WITHOUT ROWID;
-- There is one at a time.
CREATE UNIQUE INDEX roll_outs_open ON roll_outs ((1)) WHERE finished_at IS NULL;

CREATE TABLE roll_out_nodes (
  roll_out_id TEXT NOT NULL REFERENCES roll_outs (id) ON DELETE CASCADE,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  -- Null: it takes no part.
  wave INTEGER,
  -- Its place within all nodes.
  place INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'updating', 'done', 'already', 'left_out', 'by_package', 'by_person',
    'refused', 'failed', 'went_back', 'not_back')),
  from_version TEXT NOT NULL,
  started_at INTEGER,
  -- The new version was heard of first then.
  trial_at INTEGER,
  ended_at INTEGER,
  -- JSON: what differed before it began, and the time of the update that it told of then.
  before TEXT,
  -- JSON: what the controller or the agent found on trial.
  findings TEXT NOT NULL DEFAULT '[]',
  code TEXT,
  reason TEXT,
  sent_bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (roll_out_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX roll_out_nodes_at_work ON roll_out_nodes (node_id) WHERE state = 'updating';
