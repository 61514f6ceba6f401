-- Extra volumes: disks of their own, which belong to an account and stand in a storage pool of one node. A server has some of them.
CREATE TABLE volumes (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  reseller_id TEXT,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  location_id TEXT NOT NULL,
  pool TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('qcow2', 'raw')),
  name TEXT NOT NULL,
  size_gb INTEGER NOT NULL CHECK (size_gb > 0),
  -- The space that is held for it: more than its size while it grows.
  held_gb INTEGER NOT NULL CHECK (held_gb >= size_gb),
  state TEXT NOT NULL CHECK (state IN ('creating', 'ready', 'deleting')),
  server_id TEXT,
  last_server_id TEXT NOT NULL,
  job_id TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX volumes_name ON volumes (owner_id, name);
CREATE INDEX volumes_reseller ON volumes (reseller_id) WHERE reseller_id IS NOT NULL;
CREATE INDEX volumes_node ON volumes (node_id);
CREATE INDEX volumes_server ON volumes (server_id) WHERE server_id IS NOT NULL;

-- Counted in the sums of node and pool like the disks of workloads.
CREATE TRIGGER node_holds_a_volume AFTER INSERT ON volumes BEGIN
  INSERT INTO node_held VALUES (new.node_id, 0, 0, new.held_gb)
  ON CONFLICT (node_id) DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
  INSERT INTO storage_held VALUES (new.node_id, new.pool, new.held_gb)
  ON CONFLICT DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
END;
CREATE TRIGGER node_holds_a_changed_volume AFTER UPDATE OF held_gb ON volumes WHEN old.held_gb <> new.held_gb BEGIN
  UPDATE node_held SET disk_gb = disk_gb - old.held_gb + new.held_gb WHERE node_id = new.node_id;
  UPDATE storage_held SET disk_gb = disk_gb - old.held_gb + new.held_gb WHERE node_id = new.node_id AND pool = new.pool;
END;
CREATE TRIGGER node_holds_a_volume_no_more AFTER DELETE ON volumes BEGIN
  UPDATE node_held SET disk_gb = disk_gb - old.held_gb WHERE node_id = old.node_id;
  UPDATE storage_held SET disk_gb = disk_gb - old.held_gb WHERE node_id = old.node_id AND pool = old.pool;
END;

-- The ledger: how large a volume was, from when to when. It outlives the volume.
CREATE TABLE volume_intervals (
  id INTEGER PRIMARY KEY,
  volume_id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  reseller_id TEXT,
  name TEXT NOT NULL,
  storage_class TEXT,
  size_gb INTEGER NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER
) STRICT;
CREATE UNIQUE INDEX volume_intervals_open ON volume_intervals (volume_id) WHERE until IS NULL;
CREATE INDEX volume_intervals_line ON volume_intervals (volume_id, since);
CREATE INDEX volume_intervals_owner ON volume_intervals (owner_id, volume_id);

-- How much of volumes comes with a server, and where they stand.
ALTER TABLE packages ADD COLUMN volume_gb INTEGER NOT NULL DEFAULT 0;
ALTER TABLE packages ADD COLUMN volume_class TEXT;
