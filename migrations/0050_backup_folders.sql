-- Folders on nodes are a repository on each node: what is read back of the one says nothing of the other.
DROP TRIGGER backup_repositories_first_backup;
CREATE TABLE backup_repositories_new (
  target_id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  -- The node in whose folder it lies; empty in a target that all nodes share.
  folder_node_id TEXT NOT NULL DEFAULT '',
  -- The last job that checked or tidied it.
  job_id TEXT,
  -- The part of its data that is read next, and when reading its parts began.
  next_part INTEGER NOT NULL DEFAULT 1,
  round_began_at INTEGER NOT NULL,
  checked_at INTEGER,
  finding TEXT,
  detail TEXT,
  damaged_at INTEGER,
  check_due_at INTEGER NOT NULL,
  prune_due_at INTEGER NOT NULL,
  pruned_at INTEGER,
  freed_bytes INTEGER,
  PRIMARY KEY (target_id, owner_id, folder_node_id)
) STRICT, WITHOUT ROWID;
INSERT INTO backup_repositories_new (target_id, owner_id, job_id, next_part, round_began_at, checked_at, finding, detail,
  damaged_at, check_due_at, prune_due_at, pruned_at, freed_bytes)
SELECT target_id, owner_id, job_id, next_part, round_began_at, checked_at, finding, detail, damaged_at, check_due_at,
  prune_due_at, pruned_at, freed_bytes
FROM backup_repositories WHERE target_id NOT IN (SELECT id FROM backup_targets WHERE kind = 'local');
-- Those of folders begin a round anew; damage that was found stays known until a check finds none.
INSERT INTO backup_repositories_new (target_id, owner_id, folder_node_id, round_began_at, damaged_at, check_due_at,
  prune_due_at)
SELECT r.target_id, r.owner_id, b.node_id, max(b.ended_at), r.damaged_at, r.check_due_at, r.prune_due_at
FROM backup_repositories r JOIN backup_targets t ON t.id = r.target_id AND t.kind = 'local'
JOIN backups b ON b.target_id = r.target_id AND b.owner_id = r.owner_id AND b.state = 'ready'
GROUP BY r.target_id, r.owner_id, b.node_id;
UPDATE backups SET verified_at = NULL
WHERE verified_at IS NOT NULL AND target_id IN (SELECT id FROM backup_targets WHERE kind = 'local');
DROP TABLE backup_repositories;
ALTER TABLE backup_repositories_new RENAME TO backup_repositories;
-- Spread over a day and a week, so that not all of them come at once.
CREATE TRIGGER backup_repositories_first_backup AFTER UPDATE OF state ON backups
WHEN NEW.state = 'ready' AND OLD.state = 'running'
BEGIN
  INSERT INTO backup_repositories (target_id, owner_id, folder_node_id, round_began_at, check_due_at, prune_due_at)
  VALUES (NEW.target_id, NEW.owner_id,
    CASE (SELECT kind FROM backup_targets WHERE id = NEW.target_id) WHEN 'local' THEN NEW.node_id ELSE '' END,
    NEW.ended_at, NEW.ended_at + abs(random() % 86400000), NEW.ended_at + 86400000 + abs(random() % 604800000))
  ON CONFLICT DO NOTHING;
END;
CREATE INDEX backup_repositories_damaged ON backup_repositories (damaged_at) WHERE damaged_at IS NOT NULL;

-- What a drill proved stays known when the backup is deleted: that of each plan, and the last of all.
ALTER TABLE backup_plans ADD COLUMN drilled_at INTEGER;
ALTER TABLE backup_plans ADD COLUMN proven_at INTEGER;
UPDATE backup_plans SET drilled_at = (SELECT max(b.drilled_at) FROM backups b WHERE b.plan_id = backup_plans.id),
  proven_at = (SELECT max(b.proven_at) FROM backups b WHERE b.plan_id = backup_plans.id);
ALTER TABLE drill_nights ADD COLUMN proven TEXT;
INSERT INTO drill_nights (id, proven)
SELECT 1, json_object('backupId', id, 'serverId', server_id, 'serverName', server_name, 'at', proven_at,
  'seconds', proof_seconds)
FROM backups WHERE proven_at IS NOT NULL ORDER BY proven_at DESC LIMIT 1
ON CONFLICT (id) DO UPDATE SET proven = excluded.proven;
