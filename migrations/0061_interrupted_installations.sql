-- The installation that a suspension stopped: unsuspending begins it again. Null in `provisioned_at`: no system was ever
-- installed, so the first that is makes `server.provisioned` true, also by a reinstallation.
CREATE TABLE interrupted_installations (
  server_id TEXT PRIMARY KEY REFERENCES servers (id),
  kind TEXT NOT NULL,
  input TEXT NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE servers ADD COLUMN provisioned_at INTEGER;
UPDATE servers SET provisioned_at = (SELECT created_at FROM workloads w WHERE w.id = servers.id)
  WHERE id IN (SELECT id FROM workloads WHERE disk_generation IS NOT NULL);
