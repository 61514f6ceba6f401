-- A login that one node alone has at a backup target, in place of the one that the nodes share.
CREATE TABLE backup_target_logins (
  id TEXT PRIMARY KEY,
  target_id TEXT NOT NULL REFERENCES backup_targets (id) ON DELETE CASCADE,
  node_id TEXT NOT NULL,
  login TEXT NOT NULL,
  encrypted_secret TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  UNIQUE (target_id, node_id)
) STRICT;
CREATE INDEX backup_target_logins_node ON backup_target_logins (node_id);
-- A node without a login of its own does not reach the target.
ALTER TABLE backup_targets ADD COLUMN own_logins_only INTEGER NOT NULL DEFAULT 0;
