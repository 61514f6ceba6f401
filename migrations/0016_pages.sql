-- An announcement may be for the servers of one node, and may end when that node is connected again.
ALTER TABLE announcements ADD COLUMN node_id TEXT;
ALTER TABLE announcements ADD COLUMN until_connected INTEGER NOT NULL DEFAULT 0;

-- The record of a server shows its restart policy.
CREATE TRIGGER workloads_version_restart AFTER UPDATE OF restart_policy ON workloads
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.id; END;
