-- The brake counts each extra volume that is lost with a removed node.
CREATE TABLE destructions_with_losses (
  id INTEGER PRIMARY KEY,
  actor_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN
    ('terminate', 'give_up_window', 'reinstall', 'restore', 'delete_volume', 'delete_backup', 'forget_backup', 'lose_volume',
      'lose')),
  workload_id TEXT NOT NULL,
  -- The volume or backup; null: the workload itself.
  disk_id TEXT,
  disk_name TEXT,
  disk_owner_id TEXT,
  job_id TEXT,
  case_id TEXT REFERENCES brake_cases (id),
  settled_at INTEGER,
  CHECK ((disk_id IS NOT NULL) = (kind IN ('delete_volume', 'delete_backup', 'forget_backup', 'lose_volume'))),
  CHECK ((disk_id IS NULL) = (disk_name IS NULL) AND (disk_id IS NULL) = (disk_owner_id IS NULL))
) STRICT;
INSERT INTO destructions_with_losses (id, actor_id, at, kind, workload_id, disk_id, disk_name, disk_owner_id, job_id, case_id, settled_at)
  SELECT id, actor_id, at, kind, workload_id, disk_id, disk_name, disk_owner_id, job_id, case_id, settled_at FROM destructions;
DROP TABLE destructions;
ALTER TABLE destructions_with_losses RENAME TO destructions;
CREATE INDEX destructions_actor ON destructions (actor_id, at) WHERE case_id IS NULL;
CREATE INDEX destructions_case ON destructions (case_id, id) WHERE case_id IS NOT NULL;
CREATE INDEX destructions_held ON destructions (workload_id) WHERE case_id IS NOT NULL AND settled_at IS NULL;

-- The loss of a volume with its node waits for a second person, or passed the brake at that time.
ALTER TABLE volumes ADD COLUMN loss_held INTEGER NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN loss_passed_at INTEGER;
