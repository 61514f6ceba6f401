-- What becomes of the other panel's software on each node whose servers an import adopted.
CREATE TABLE source_removals (
  import_id TEXT NOT NULL REFERENCES imports (id),
  node_id TEXT NOT NULL REFERENCES nodes (id),
  choice TEXT CHECK (choice IN ('keep', 'agent', 'manual')),
  -- JSON: who chose it.
  chosen_by TEXT,
  chosen_at INTEGER,
  state TEXT NOT NULL CHECK (state IN ('idle', 'removing', 'removed', 'restoring', 'restored', 'failed')),
  job_id TEXT,
  -- The removal whose journal is on the node, which a restore undoes.
  removal TEXT,
  -- JSON: what was moved and stopped, as the node answered it.
  result TEXT,
  removed_at INTEGER,
  restored_at INTEGER,
  -- Why the last job failed: its code, and a sentence.
  failure TEXT,
  failure_words TEXT,
  PRIMARY KEY (import_id, node_id)
) STRICT, WITHOUT ROWID;
