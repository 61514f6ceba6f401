-- Which revision of the firewall is in force is said for each node where a server stays.
ALTER TABLE workload_stays ADD COLUMN rules INTEGER NOT NULL DEFAULT 0;
UPDATE workload_stays SET rules = coalesce((SELECT applied_revision FROM server_firewalls f WHERE f.id = workload_id), 0)
  WHERE role = 'home';
ALTER TABLE server_firewalls DROP COLUMN applied_revision;
