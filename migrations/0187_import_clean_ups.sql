-- What ended imports have left on source hypervisors, until it is removed there. It outlives a cancelled import.
CREATE TABLE import_clean_ups (
  import_id TEXT NOT NULL,
  hypervisor_id TEXT NOT NULL,
  -- Of the import, as people call it.
  title TEXT NOT NULL,
  name TEXT NOT NULL,
  -- JSON: how nodes reach it; null: it is a node itself.
  host TEXT,
  -- JSON: the nodes whose keys are there, or the node that it is.
  node_ids TEXT NOT NULL,
  -- JSON: the domains whose definitions are kept there still.
  domains TEXT NOT NULL,
  has_keys INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'given_up')),
  definitions_removed INTEGER NOT NULL DEFAULT 0,
  keys_removed INTEGER NOT NULL DEFAULT 0,
  -- Why the last try did not end, in words.
  words TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  since INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (import_id, hypervisor_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_clean_ups_due ON import_clean_ups (next_at) WHERE state = 'waiting';
