-- Firewalls: those that one server has, and those that several servers of one owner share.
CREATE TABLE firewalls (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  rules TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX firewalls_name ON firewalls (owner_id, name);

-- A server without a row has the defaults: off, and mail closed.
CREATE TABLE server_firewalls (
  id TEXT PRIMARY KEY REFERENCES workloads (id),
  enabled INTEGER NOT NULL DEFAULT 0,
  default_in TEXT NOT NULL DEFAULT 'drop' CHECK (default_in IN ('accept', 'drop')),
  default_out TEXT NOT NULL DEFAULT 'accept' CHECK (default_out IN ('accept', 'drop')),
  rules TEXT NOT NULL DEFAULT '[]',
  -- Null: as the package says.
  smtp_allowed INTEGER,
  -- Counts the changes; the node keeps the policy with the highest.
  revision INTEGER NOT NULL DEFAULT 0,
  applied_revision INTEGER NOT NULL DEFAULT 0,
  -- What the node counted, and when.
  report TEXT,
  reported_at INTEGER
) STRICT;

CREATE TABLE firewall_servers (
  firewall_id TEXT NOT NULL REFERENCES firewalls (id),
  server_id TEXT NOT NULL REFERENCES workloads (id),
  position INTEGER NOT NULL,
  PRIMARY KEY (server_id, firewall_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX firewall_servers_firewall ON firewall_servers (firewall_id);

ALTER TABLE packages ADD COLUMN smtp_allowed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE packages ADD COLUMN new_connections_per_second INTEGER;
ALTER TABLE packages ADD COLUMN packets_per_second INTEGER;
