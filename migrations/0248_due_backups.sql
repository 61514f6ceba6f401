-- Backups that begin or go by themselves: what is due, however many servers have plans.
CREATE INDEX server_backup_plans_to_retain ON server_backup_plans (server_id)
  WHERE retained_backup_id IS NOT last_backup_id;
CREATE INDEX backup_repositories_by_due ON backup_repositories (min(check_due_at, prune_due_at));
