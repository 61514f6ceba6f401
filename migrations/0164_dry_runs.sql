-- The dry run of an import, and the access of nodes to source hypervisors.
-- Counts the dry runs that were begun.
ALTER TABLE imports ADD COLUMN dry_run INTEGER NOT NULL DEFAULT 0;
-- While it is checking: how far it is.
ALTER TABLE imports ADD COLUMN check_phase TEXT CHECK (check_phase IN ('clearing', 'comparing', 'checking'));
ALTER TABLE imports ADD COLUMN check_began_at INTEGER;
-- What was decided when the last dry run ended; another mapping_version: it is out of date.
ALTER TABLE imports ADD COLUMN checked_version INTEGER;

CREATE INDEX import_servers_domain ON import_servers (import_id, domain);

-- The key with which a node logs in to source hypervisors.
CREATE TABLE import_node_keys (
  node_id TEXT PRIMARY KEY REFERENCES nodes (id),
  public_key TEXT NOT NULL,
  read_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A source hypervisor as nodes have found it at their last look. Another host key stops them.
CREATE TABLE import_hosts (
  import_id TEXT NOT NULL REFERENCES imports (id),
  -- The id of the hypervisor in the other panel.
  hypervisor_id TEXT NOT NULL,
  address TEXT NOT NULL,
  host_key TEXT NOT NULL,
  -- JSON, of `source-host.look`; null: none was let in yet.
  facts TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (import_id, hypervisor_id)
) STRICT, WITHOUT ROWID;

-- The last log-in of a node to a source hypervisor.
CREATE TABLE import_logins (
  import_id TEXT NOT NULL REFERENCES imports (id),
  hypervisor_id TEXT NOT NULL,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  -- `works`, or the code of a finding; null: none was tried.
  result TEXT,
  words TEXT,
  at INTEGER,
  -- It is to be tried again since then.
  asked_at INTEGER,
  PRIMARY KEY (import_id, hypervisor_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_logins_asked ON import_logins (asked_at) WHERE asked_at IS NOT NULL;

-- What the dry run knows of a server. A row without a result is planned, and waits for the answer of its node.
CREATE TABLE import_checks (
  server_id TEXT PRIMARY KEY REFERENCES import_servers (id) ON DELETE CASCADE,
  import_id TEXT NOT NULL REFERENCES imports (id),
  hypervisor_id TEXT NOT NULL,
  result TEXT CHECK (result IN ('ready', 'remark', 'to_fix', 'stays')),
  way TEXT CHECK (way IN ('copy', 'adopt')),
  -- Where it goes, and which looks at it. Null: none takes it.
  node_id TEXT REFERENCES nodes (id),
  pool TEXT,
  -- Why it goes there, or why nothing takes it, in words.
  reason TEXT,
  -- What it takes there, so that the servers behind it in the plan do not get it too.
  memory_mb INTEGER NOT NULL DEFAULT 0,
  disk_gb INTEGER NOT NULL DEFAULT 0,
  new_ipv4 INTEGER NOT NULL DEFAULT 0,
  -- As its node has found it on the hypervisor.
  is_running INTEGER,
  disk_path TEXT,
  disk_format TEXT,
  disk_bus TEXT,
  disk_bytes INTEGER,
  -- What of the disk holds data.
  used_bytes INTEGER,
  machine TEXT,
  mac TEXT,
  copy_seconds INTEGER,
  away_seconds INTEGER,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX import_checks_result ON import_checks (import_id, result, server_id);
CREATE INDEX import_checks_open ON import_checks (import_id, hypervisor_id, node_id, server_id) WHERE result IS NULL;

CREATE TABLE import_findings (
  server_id TEXT NOT NULL REFERENCES import_servers (id) ON DELETE CASCADE,
  import_id TEXT NOT NULL REFERENCES imports (id),
  code TEXT NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('remark', 'to_fix', 'stays')),
  words TEXT NOT NULL,
  PRIMARY KEY (server_id, code)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_findings_code ON import_findings (import_id, code, server_id);
