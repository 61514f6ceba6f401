-- The limits of packages and settings as servers were last told them, and the servers that are still to be told.
CREATE TABLE firewall_limits (
  package_id TEXT PRIMARY KEY REFERENCES packages (id),
  limits TEXT NOT NULL
) STRICT;
ALTER TABLE server_firewalls ADD COLUMN due INTEGER NOT NULL DEFAULT 0;
CREATE INDEX server_firewalls_due ON server_firewalls (id) WHERE due = 1;
