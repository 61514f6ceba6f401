-- The restore drill: a backup is restored on a node beside its workloads, and its system has to answer.
ALTER TABLE backups ADD COLUMN drill_job_id TEXT;
ALTER TABLE backups ADD COLUMN drilled_at INTEGER;
ALTER TABLE backups ADD COLUMN drill_error TEXT;
ALTER TABLE backups ADD COLUMN proven_at INTEGER;
ALTER TABLE backups ADD COLUMN proof TEXT CHECK (proof IN ('agent', 'console', 'disk'));
ALTER TABLE backups ADD COLUMN proof_seconds REAL;
CREATE INDEX backups_drilled ON backups (drill_job_id) WHERE drill_job_id IS NOT NULL;
CREATE INDEX backups_drill_error ON backups (id) WHERE drill_error IS NOT NULL;

-- The last night of the drill; one row.
CREATE TABLE drill_nights (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  begun_at INTEGER,
  -- The last night in which none could begin, and why.
  skipped_at INTEGER,
  skipped_words TEXT
) STRICT;

-- What a node holds for a while beside its workloads, counted as theirs.
CREATE TABLE node_guests (
  id TEXT PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  pool TEXT NOT NULL,
  memory_mb INTEGER NOT NULL CHECK (memory_mb > 0),
  disk_gb INTEGER NOT NULL CHECK (disk_gb > 0)
) STRICT;
CREATE INDEX node_guests_node ON node_guests (node_id);
CREATE TRIGGER node_holds_a_guest AFTER INSERT ON node_guests BEGIN
  INSERT INTO node_held VALUES (new.node_id, 0, new.memory_mb, new.disk_gb)
  ON CONFLICT (node_id) DO UPDATE SET memory_mb = memory_mb + excluded.memory_mb, disk_gb = disk_gb + excluded.disk_gb;
  INSERT INTO storage_held VALUES (new.node_id, new.pool, new.disk_gb)
  ON CONFLICT DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
END;
CREATE TRIGGER node_holds_a_guest_no_more AFTER DELETE ON node_guests BEGIN
  UPDATE node_held SET memory_mb = memory_mb - old.memory_mb, disk_gb = disk_gb - old.disk_gb WHERE node_id = old.node_id;
  UPDATE storage_held SET disk_gb = disk_gb - old.disk_gb WHERE node_id = old.node_id AND pool = old.pool;
END;
CREATE INDEX backups_plan ON backups (plan_id, proven_at) WHERE plan_id IS NOT NULL;
