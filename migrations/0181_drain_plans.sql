-- A drain that is to begin at a time, and the choices for the servers of a node, until its drain begins.
CREATE TABLE drain_plans (
  node_id TEXT PRIMARY KEY NOT NULL REFERENCES nodes (id),
  starts_at INTEGER,
  -- JSON: how it is to be done, as it was asked for.
  asked TEXT NOT NULL,
  -- JSON: the account that asked, and its name then.
  set_by TEXT NOT NULL,
  -- Why it did not begin, in words.
  error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX drain_plans_due ON drain_plans (starts_at) WHERE starts_at IS NOT NULL;

CREATE TABLE drain_choices (
  node_id TEXT NOT NULL REFERENCES nodes (id),
  workload_id TEXT NOT NULL REFERENCES workloads (id),
  -- Null: as nothing speaks against.
  mode TEXT CHECK (mode IN ('live', 'near_live', 'cold')),
  to_node_id TEXT REFERENCES nodes (id),
  -- It stays where it is.
  leaves INTEGER NOT NULL DEFAULT 0,
  -- Those with a place come first, in its order.
  place INTEGER,
  -- The name of the person who chose.
  set_by TEXT NOT NULL,
  PRIMARY KEY (node_id, workload_id)
) STRICT, WITHOUT ROWID;

-- The way that a person has chosen for its move.
ALTER TABLE drain_servers ADD COLUMN chosen_mode TEXT;
