-- Backups of servers. A backup outlives its server: it keeps the name, the owner and the machine that it had.
ALTER TABLE backup_targets ADD COLUMN is_default INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX backup_targets_default ON backup_targets (is_default) WHERE is_default = 1;

-- The key of each account's repositories; `id` is the account's.
CREATE TABLE backup_keys (
  id TEXT PRIMARY KEY,
  encrypted_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE backups (
  id TEXT PRIMARY KEY,
  server_id TEXT NOT NULL,
  server_name TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  target_id TEXT NOT NULL,
  plan_id TEXT,
  kind TEXT NOT NULL CHECK (kind IN ('manual', 'scheduled')),
  state TEXT NOT NULL CHECK (state IN ('running', 'ready', 'failed', 'deleting')),
  job_id TEXT NOT NULL,
  disk_gb INTEGER NOT NULL CHECK (disk_gb > 0),
  image_id TEXT,
  machine TEXT NOT NULL,
  firmware TEXT NOT NULL,
  tpm INTEGER NOT NULL,
  os TEXT NOT NULL,
  snapshot TEXT,
  disk_bytes INTEGER,
  added_bytes INTEGER,
  consistent INTEGER,
  seconds REAL,
  error_code TEXT,
  error_words TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  keep_until INTEGER,
  kept_at INTEGER,
  verified_at INTEGER
) STRICT;
CREATE INDEX backups_server ON backups (server_id, id);
CREATE INDEX backups_owner ON backups (owner_id, id);
CREATE INDEX backups_target ON backups (target_id, id);
