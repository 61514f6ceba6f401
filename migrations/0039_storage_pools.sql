-- The storage pools of nodes, as their nodes report them; staff decide on `open` and `overcommit_percent`. A disk stands in a pool,
-- so its workload names it.
CREATE TABLE storage_pools (
  id TEXT PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  class TEXT,
  path TEXT NOT NULL,
  total_bytes INTEGER NOT NULL,
  free_bytes INTEGER,
  metadata_total_bytes INTEGER,
  metadata_free_bytes INTEGER,
  warnings TEXT NOT NULL DEFAULT '[]',
  open INTEGER NOT NULL DEFAULT 1,
  overcommit_percent INTEGER NOT NULL DEFAULT 100,
  missing_since INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX storage_pools_name ON storage_pools (node_id, name);
INSERT INTO storage_pools (id, node_id, name, kind, path, total_bytes, free_bytes, created_at)
  SELECT 'stp_' || substr(id, 5), id, pool, 'file', '', pool_bytes, pool_free_bytes, created_at FROM nodes;
ALTER TABLE nodes DROP COLUMN pool;
ALTER TABLE nodes DROP COLUMN pool_bytes;
ALTER TABLE nodes DROP COLUMN pool_free_bytes;

ALTER TABLE workloads ADD COLUMN pool TEXT NOT NULL DEFAULT 'local';
UPDATE workloads SET pool = coalesce((SELECT pool FROM servers WHERE servers.id = workloads.id), 'local');
ALTER TABLE servers DROP COLUMN pool;

-- The space that the disks in each pool may take, as node_held has it for the node.
CREATE TABLE storage_held (
  node_id TEXT NOT NULL REFERENCES nodes (id),
  pool TEXT NOT NULL,
  disk_gb INTEGER NOT NULL,
  PRIMARY KEY (node_id, pool)
) STRICT, WITHOUT ROWID;
INSERT INTO storage_held SELECT node_id, pool, sum(disk_gb + spare_disk_gb) FROM workloads WHERE released_at IS NULL GROUP BY 1, 2;
CREATE TRIGGER storage_holds_a_workload AFTER INSERT ON workloads WHEN new.released_at IS NULL BEGIN
  INSERT INTO storage_held VALUES (new.node_id, new.pool, new.disk_gb + new.spare_disk_gb)
  ON CONFLICT DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
END;
CREATE TRIGGER storage_holds_a_changed_workload
AFTER UPDATE OF node_id, pool, disk_gb, spare_disk_gb, released_at ON workloads
WHEN old.node_id <> new.node_id OR old.pool <> new.pool OR old.disk_gb <> new.disk_gb OR old.spare_disk_gb <> new.spare_disk_gb
  OR (old.released_at IS NULL) <> (new.released_at IS NULL) BEGIN
  UPDATE storage_held SET disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb
    WHERE node_id = old.node_id AND pool = old.pool AND old.released_at IS NULL;
  INSERT INTO storage_held SELECT new.node_id, new.pool, new.disk_gb + new.spare_disk_gb WHERE new.released_at IS NULL
  ON CONFLICT DO UPDATE SET disk_gb = disk_gb + excluded.disk_gb;
END;
CREATE TRIGGER storage_holds_a_workload_no_more AFTER DELETE ON workloads WHEN old.released_at IS NULL BEGIN
  UPDATE storage_held SET disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb WHERE node_id = old.node_id AND pool = old.pool;
END;

-- The record of a workload shows its pool and the class of that.
CREATE TRIGGER workloads_version_pool AFTER UPDATE OF pool ON workloads
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.id; END;
CREATE TRIGGER storage_pools_version AFTER UPDATE OF class ON storage_pools WHEN OLD.class IS NOT NEW.class
BEGIN UPDATE workloads SET version = version + 1 WHERE node_id = NEW.node_id AND pool = NEW.name; END;

-- The class of storage that a package asks for, and the limits of its disks; a server takes the limits over.
ALTER TABLE packages ADD COLUMN storage_class TEXT;
ALTER TABLE packages ADD COLUMN disk_read_iops INTEGER;
ALTER TABLE packages ADD COLUMN disk_write_iops INTEGER;
ALTER TABLE packages ADD COLUMN disk_read_mb_per_second INTEGER;
ALTER TABLE packages ADD COLUMN disk_write_mb_per_second INTEGER;
ALTER TABLE servers ADD COLUMN disk_read_iops INTEGER;
ALTER TABLE servers ADD COLUMN disk_write_iops INTEGER;
ALTER TABLE servers ADD COLUMN disk_read_mb_per_second INTEGER;
ALTER TABLE servers ADD COLUMN disk_write_mb_per_second INTEGER;
