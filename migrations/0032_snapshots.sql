-- Snapshots of servers: layers of a disk that nothing writes any more. `layer` and `parent` are null while one is taken;
-- `parent` also of the first layer, which stands on none.
ALTER TABLE packages ADD COLUMN snapshot_limit INTEGER NOT NULL DEFAULT 3 CHECK (snapshot_limit >= 0);
ALTER TABLE servers ADD COLUMN disk_layer INTEGER NOT NULL DEFAULT 0;
ALTER TABLE servers ADD COLUMN disk_parent INTEGER;
ALTER TABLE servers ADD COLUMN last_disk_layer INTEGER NOT NULL DEFAULT 0;

CREATE TABLE snapshots (
  id TEXT PRIMARY KEY,
  server_id TEXT NOT NULL,
  name TEXT NOT NULL,
  comment TEXT NOT NULL DEFAULT '',
  layer INTEGER,
  parent INTEGER,
  -- The disk when it was taken, in GiB: so much space is held for it.
  disk_gb INTEGER NOT NULL CHECK (disk_gb > 0),
  used_bytes INTEGER,
  consistent INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX snapshots_name ON snapshots (server_id, name);
CREATE UNIQUE INDEX snapshots_layer ON snapshots (server_id, layer) WHERE layer IS NOT NULL;
