-- The brake counts deletions of volumes and backups too: what is destroyed beside a workload has a name and an owner of its own.
CREATE TABLE destructions_with_subjects (
  id INTEGER PRIMARY KEY,
  actor_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('terminate', 'reinstall', 'restore', 'delete_volume', 'delete_backup')),
  workload_id TEXT NOT NULL,
  -- The volume or backup; null: the workload itself.
  disk_id TEXT,
  disk_name TEXT,
  disk_owner_id TEXT,
  job_id TEXT,
  case_id TEXT REFERENCES brake_cases (id),
  settled_at INTEGER,
  CHECK ((disk_id IS NOT NULL) = (kind IN ('delete_volume', 'delete_backup'))),
  CHECK ((disk_id IS NULL) = (disk_name IS NULL) AND (disk_id IS NULL) = (disk_owner_id IS NULL))
) STRICT;
INSERT INTO destructions_with_subjects (id, actor_id, at, kind, workload_id, job_id, case_id, settled_at)
  SELECT id, actor_id, at, kind, workload_id, job_id, case_id, settled_at FROM destructions;
DROP TABLE destructions;
ALTER TABLE destructions_with_subjects RENAME TO destructions;
CREATE INDEX destructions_actor ON destructions (actor_id, at) WHERE case_id IS NULL;
CREATE INDEX destructions_case ON destructions (case_id, id) WHERE case_id IS NOT NULL;

-- Who took a snapshot, as in the audit log; null for those from before this column.
ALTER TABLE snapshots ADD COLUMN taken_by TEXT;
