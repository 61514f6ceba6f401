-- A terminated workload can be brought back until purge_at: its disk and addresses are held until then. Its memory is free once it
-- is stopped. terminated_from is the lifecycle that bringing it back restores.
ALTER TABLE workloads ADD COLUMN purge_at INTEGER;
ALTER TABLE workloads ADD COLUMN terminated_from TEXT;
ALTER TABLE workloads ADD COLUMN memory_freed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX workloads_purge ON workloads (purge_at) WHERE purge_at IS NOT NULL;
CREATE TRIGGER workloads_version_purge AFTER UPDATE OF purge_at ON workloads
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.id; END;

DROP TRIGGER node_holds_a_changed_workload;
CREATE TRIGGER node_holds_a_changed_workload
AFTER UPDATE OF node_id, memory_mb, disk_gb, spare_disk_gb, released_at, lifecycle, memory_freed ON workloads
WHEN old.node_id <> new.node_id OR old.memory_mb <> new.memory_mb OR old.disk_gb <> new.disk_gb OR old.spare_disk_gb <> new.spare_disk_gb
  OR old.released_at IS NOT new.released_at OR old.memory_freed <> new.memory_freed
  OR (old.lifecycle = 'terminated') <> (new.lifecycle = 'terminated') BEGIN
  UPDATE node_held SET workloads = workloads - 1,
    memory_mb = memory_mb - iif(old.lifecycle = 'terminated' AND old.memory_freed, 0, old.memory_mb),
    disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb WHERE node_id = old.node_id AND old.released_at IS NULL;
  INSERT INTO node_held SELECT new.node_id, 1, iif(new.lifecycle = 'terminated' AND new.memory_freed, 0, new.memory_mb),
    new.disk_gb + new.spare_disk_gb WHERE new.released_at IS NULL
  ON CONFLICT (node_id) DO UPDATE SET workloads = workloads + 1, memory_mb = memory_mb + excluded.memory_mb, disk_gb = disk_gb + excluded.disk_gb;
END;
DROP TRIGGER node_holds_a_workload_no_more;
CREATE TRIGGER node_holds_a_workload_no_more AFTER DELETE ON workloads WHEN old.released_at IS NULL BEGIN
  UPDATE node_held SET workloads = workloads - 1,
    memory_mb = memory_mb - iif(old.lifecycle = 'terminated' AND old.memory_freed, 0, old.memory_mb),
    disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb WHERE node_id = old.node_id;
END;

-- A job may be held before it begins, until somebody releases it.
ALTER TABLE jobs ADD COLUMN held_at INTEGER;

-- The brake on mass destruction: every destruction that somebody asked for, and the cases of those that wait for a second person.
ALTER TABLE workloads ADD COLUMN purge_held INTEGER NOT NULL DEFAULT 0;
CREATE TABLE brake_cases (
  id TEXT PRIMARY KEY,
  actor_id TEXT NOT NULL REFERENCES accounts (id),
  actor_name TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  decided_at INTEGER,
  decision TEXT CHECK (decision IN ('released', 'refused')),
  decided_by_name TEXT,
  CHECK ((decided_at IS NULL) = (decision IS NULL))
) STRICT;
CREATE UNIQUE INDEX brake_cases_open ON brake_cases (actor_id) WHERE decided_at IS NULL;
CREATE TABLE destructions (
  id INTEGER PRIMARY KEY,
  actor_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('terminate', 'reinstall', 'restore')),
  workload_id TEXT NOT NULL,
  job_id TEXT,
  case_id TEXT REFERENCES brake_cases (id),
  settled_at INTEGER
) STRICT;
CREATE INDEX destructions_actor ON destructions (actor_id, at) WHERE case_id IS NULL;
CREATE INDEX destructions_case ON destructions (case_id, id) WHERE case_id IS NOT NULL;

-- Words that people put on workloads to find them again: the owner's, which everybody reads who sees the workload, and the staff's.
CREATE TABLE workload_labels (
  workload_id TEXT NOT NULL REFERENCES workloads (id),
  side TEXT NOT NULL CHECK (side IN ('owner', 'staff')),
  label TEXT NOT NULL COLLATE NOCASE,
  PRIMARY KEY (workload_id, side, label)
) STRICT, WITHOUT ROWID;
CREATE INDEX workload_labels_label ON workload_labels (label, side, workload_id);
CREATE TRIGGER workload_labels_version_insert AFTER INSERT ON workload_labels
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.workload_id; END;
CREATE TRIGGER workload_labels_version_delete AFTER DELETE ON workload_labels
BEGIN UPDATE workloads SET version = version + 1 WHERE id = OLD.workload_id; END;
-- A new owner does not inherit the words of the former one.
CREATE TRIGGER workload_leaves_its_labels AFTER UPDATE OF owner_id ON workloads WHEN new.owner_id <> old.owner_id
BEGIN DELETE FROM workload_labels WHERE workload_id = new.id AND side = 'owner'; END;
