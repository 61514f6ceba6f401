-- A workload stays on nodes: on its home, and for a while on a second node. A stay says what it holds there, so that it counts
-- there once, whatever its role. workloads.node_id and pool are those of the home, also after that was given back.
CREATE TABLE workload_stays (
  workload_id TEXT NOT NULL REFERENCES workloads (id) ON DELETE CASCADE,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  role TEXT NOT NULL CHECK (role IN ('home', 'arriving', 'leaving')),
  -- The pool of its system disk there.
  pool TEXT NOT NULL,
  vcpus INTEGER NOT NULL CHECK (vcpus >= 0),
  -- 0: it was given back, as by a terminated one that is stopped.
  memory_mb INTEGER NOT NULL CHECK (memory_mb >= 0),
  disk_gb INTEGER NOT NULL CHECK (disk_gb >= 0),
  -- Disk space in addition, while a second disk exists beside the first, or snapshots.
  spare_disk_gb INTEGER NOT NULL DEFAULT 0 CHECK (spare_disk_gb >= 0),
  PRIMARY KEY (workload_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX workload_stays_home ON workload_stays (workload_id) WHERE role = 'home';
CREATE INDEX workload_stays_node ON workload_stays (node_id);

INSERT INTO workload_stays
  SELECT id, node_id, 'home', pool, vcpus, iif(lifecycle = 'terminated' AND memory_freed, 0, memory_mb), disk_gb, spare_disk_gb
  FROM workloads WHERE released_at IS NULL;

-- The sums of nodes and pools are those of stays.
DROP TRIGGER node_holds_a_workload;
DROP TRIGGER node_holds_a_changed_workload;
DROP TRIGGER node_holds_a_workload_no_more;
DROP TRIGGER storage_holds_a_workload;
DROP TRIGGER storage_holds_a_changed_workload;
DROP TRIGGER storage_holds_a_workload_no_more;
ALTER TABLE workloads DROP COLUMN spare_disk_gb;
ALTER TABLE workloads DROP COLUMN memory_freed;

CREATE TRIGGER node_holds_a_stay AFTER INSERT ON workload_stays BEGIN
  INSERT INTO node_held VALUES (new.node_id, 1, new.memory_mb, new.disk_gb + new.spare_disk_gb)
  ON CONFLICT (node_id) DO UPDATE SET workloads = workloads + 1, memory_mb = memory_mb + excluded.memory_mb, disk_gb = disk_gb + excluded.disk_gb;
  INSERT INTO storage_held VALUES (new.node_id, new.pool, new.disk_gb + new.spare_disk_gb)
  ON CONFLICT DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
END;
CREATE TRIGGER node_holds_a_changed_stay AFTER UPDATE OF memory_mb, disk_gb, spare_disk_gb ON workload_stays
WHEN old.memory_mb <> new.memory_mb OR old.disk_gb + old.spare_disk_gb <> new.disk_gb + new.spare_disk_gb BEGIN
  UPDATE node_held SET memory_mb = memory_mb - old.memory_mb + new.memory_mb,
    disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb + new.disk_gb + new.spare_disk_gb WHERE node_id = new.node_id;
  UPDATE storage_held SET disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb + new.disk_gb + new.spare_disk_gb
    WHERE node_id = new.node_id AND pool = new.pool;
END;
CREATE TRIGGER stay_keeps_its_place BEFORE UPDATE OF workload_id, node_id, pool ON workload_stays
WHEN old.workload_id <> new.workload_id OR old.node_id <> new.node_id OR old.pool <> new.pool
BEGIN SELECT raise(ABORT, 'a stay is closed here and opened there'); END;
CREATE TRIGGER node_holds_a_stay_no_more AFTER DELETE ON workload_stays BEGIN
  UPDATE node_held SET workloads = workloads - 1, memory_mb = memory_mb - old.memory_mb,
    disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb WHERE node_id = old.node_id;
  UPDATE storage_held SET disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb WHERE node_id = old.node_id AND pool = old.pool;
END;

-- The disks beside its own that come with a workload to a second node, or wait there for their deletion. At its home an extra
-- volume counts by itself.
CREATE TABLE workload_stay_volumes (
  workload_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  volume_id TEXT NOT NULL,
  pool TEXT NOT NULL,
  disk_gb INTEGER NOT NULL CHECK (disk_gb > 0),
  PRIMARY KEY (workload_id, node_id, volume_id),
  FOREIGN KEY (workload_id, node_id) REFERENCES workload_stays (workload_id, node_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TRIGGER node_holds_a_stays_volume AFTER INSERT ON workload_stay_volumes BEGIN
  UPDATE node_held SET disk_gb = disk_gb + new.disk_gb WHERE node_id = new.node_id;
  INSERT INTO storage_held VALUES (new.node_id, new.pool, new.disk_gb)
  ON CONFLICT DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
END;
CREATE TRIGGER node_holds_a_stays_volume_no_more AFTER DELETE ON workload_stay_volumes BEGIN
  UPDATE node_held SET disk_gb = disk_gb - old.disk_gb WHERE node_id = old.node_id;
  UPDATE storage_held SET disk_gb = disk_gb - old.disk_gb WHERE node_id = old.node_id AND pool = old.pool;
END;
-- A volume that moves with its server counts by itself where it is now, and as a part of the stay where it still has to be deleted.
CREATE TRIGGER node_holds_a_moved_volume AFTER UPDATE OF node_id, pool ON volumes
WHEN old.node_id <> new.node_id OR old.pool <> new.pool BEGIN
  UPDATE node_held SET disk_gb = disk_gb - old.held_gb WHERE node_id = old.node_id;
  UPDATE storage_held SET disk_gb = disk_gb - old.held_gb WHERE node_id = old.node_id AND pool = old.pool;
  INSERT INTO node_held VALUES (new.node_id, 0, 0, new.held_gb)
  ON CONFLICT (node_id) DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
  INSERT INTO storage_held VALUES (new.node_id, new.pool, new.held_gb)
  ON CONFLICT DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
  DELETE FROM workload_stay_volumes WHERE workload_id = new.server_id AND node_id = new.node_id AND volume_id = new.id;
  INSERT INTO workload_stay_volumes SELECT workload_id, node_id, new.id, old.pool, old.held_gb FROM workload_stays
    WHERE workload_id = new.server_id AND node_id = old.node_id AND node_id <> new.node_id;
END;

-- Where a workload was before: its node may still have traffic to tell of that time.
CREATE TABLE workload_past_stays (
  workload_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (workload_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX workload_past_stays_until ON workload_past_stays (until);
