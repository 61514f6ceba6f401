-- Places for backups of servers, with what reaches them. `encrypted_password` opens the repository that tests use there.
-- The columns from `test_job_id` on are the last test, and empty after a change.
CREATE TABLE backup_targets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('local', 'sftp', 's3', 'rest')),
  address TEXT NOT NULL,
  login TEXT NOT NULL,
  encrypted_secret TEXT,
  trust TEXT NOT NULL,
  encrypted_password TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  test_job_id TEXT,
  test_node_id TEXT,
  test_started_at INTEGER,
  tested_at INTEGER,
  test_finding TEXT,
  test_detail TEXT,
  test_seconds REAL,
  append_only TEXT
) STRICT;
CREATE UNIQUE INDEX backup_targets_name ON backup_targets (name);
