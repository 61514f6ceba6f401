-- The last restore drill that failed of each server, kept when its backup is deleted; a later one that works removes it.
CREATE TABLE drill_failures (
  server_id TEXT PRIMARY KEY,
  server_name TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  backup_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  words TEXT NOT NULL,
  failed_at INTEGER NOT NULL
) STRICT;
INSERT OR REPLACE INTO drill_failures
  SELECT server_id, server_name, owner_id, id, drill_job_id, drill_error, drilled_at FROM backups
  WHERE drill_error IS NOT NULL AND drill_job_id IS NOT NULL AND drilled_at IS NOT NULL ORDER BY drilled_at;
