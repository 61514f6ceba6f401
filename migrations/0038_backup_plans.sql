-- Backup plans that staff define, the servers that are on one, and the upkeep of repositories.
CREATE TABLE backup_plans (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  target_id TEXT NOT NULL,
  every TEXT NOT NULL,
  -- A local time of `time_zone`, as 02:30.
  starts_at TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  window_minutes INTEGER NOT NULL CHECK (window_minutes >= 0),
  keep_last INTEGER NOT NULL CHECK (keep_last > 0),
  keep_daily INTEGER NOT NULL,
  keep_weekly INTEGER NOT NULL,
  keep_monthly INTEGER NOT NULL,
  billing_product_id TEXT,
  archived INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX backup_plans_target ON backup_plans (target_id);

CREATE TABLE server_backup_plans (
  server_id TEXT PRIMARY KEY,
  plan_id TEXT NOT NULL REFERENCES backup_plans (id),
  assigned_at INTEGER NOT NULL,
  -- When its next backup begins; null: to be worked out, because the plan has changed.
  due_at INTEGER,
  -- Until when a backup that could not begin is tried again; null: none was refused.
  tries_until INTEGER,
  last_backup_id TEXT,
  -- The last backup after which old ones were chosen to go.
  retained_backup_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX server_backup_plans_plan ON server_backup_plans (plan_id);
CREATE INDEX server_backup_plans_due ON server_backup_plans (due_at);
-- Read at each turn of the clock.
CREATE INDEX backups_at_work ON backups (state) WHERE state IN ('running', 'deleting');

-- The repository of each account in each target: what was found in it, and when it is checked and tidied next.
CREATE TABLE backup_repositories (
  target_id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
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
  PRIMARY KEY (target_id, owner_id)
) STRICT, WITHOUT ROWID;
-- Spread over a day and a week, so that not all of them come at once.
CREATE TRIGGER backup_repositories_first_backup AFTER UPDATE OF state ON backups
WHEN NEW.state = 'ready' AND OLD.state = 'running'
BEGIN
  INSERT INTO backup_repositories (target_id, owner_id, round_began_at, check_due_at, prune_due_at)
  VALUES (NEW.target_id, NEW.owner_id, NEW.ended_at, NEW.ended_at + abs(random() % 86400000),
    NEW.ended_at + 86400000 + abs(random() % 604800000)) ON CONFLICT DO NOTHING;
END;
CREATE INDEX backup_repositories_damaged ON backup_repositories (damaged_at) WHERE damaged_at IS NOT NULL;
