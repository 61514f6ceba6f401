-- Accounts and how they come in
CREATE TABLE roles (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  permissions TEXT NOT NULL,
  is_owner INTEGER NOT NULL DEFAULT 0,
  second_factor INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('staff', 'reseller', 'customer')),
  email TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL,
  organization TEXT,
  external_id TEXT,
  reseller_id TEXT REFERENCES accounts (id),
  role_id TEXT REFERENCES roles (id),
  password_hash TEXT,
  locked_at INTEGER,
  lock_reason TEXT,
  allowance TEXT,
  preferences TEXT,
  disabled_at INTEGER,
  owner_since INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX accounts_external_id ON accounts (coalesce(reseller_id, ''), external_id) WHERE external_id IS NOT NULL;
CREATE INDEX accounts_kind ON accounts (kind, id);
CREATE INDEX accounts_reseller ON accounts (reseller_id) WHERE reseller_id IS NOT NULL;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  csrf TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  confirmed_at INTEGER NOT NULL,
  support_of TEXT REFERENCES accounts (id),
  support_reason TEXT,
  support_until INTEGER,
  from_address TEXT NOT NULL,
  user_agent TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_account ON sessions (account_id);

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  ending TEXT NOT NULL,
  scopes TEXT NOT NULL,
  allow TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  used_at INTEGER,
  used_from TEXT,
  revoked_at INTEGER,
  previous_hash TEXT UNIQUE,
  previous_until INTEGER
) STRICT;
CREATE INDEX tokens_account ON tokens (account_id, id);

CREATE TABLE ssh_keys (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (owner_id, fingerprint)
) STRICT;

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

-- What is sold, and where it runs
CREATE TABLE packages (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  vcpus INTEGER NOT NULL,
  memory_mb INTEGER NOT NULL,
  disk_gb INTEGER NOT NULL,
  traffic_gb INTEGER,
  port_mbps INTEGER,
  ipv4 INTEGER NOT NULL,
  ipv6_prefix INTEGER,
  billing_product_id TEXT,
  archived INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE locations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  placement TEXT NOT NULL CHECK (placement IN ('spread', 'fill')),
  open INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE,
  location_id TEXT NOT NULL REFERENCES locations (id),
  public_key TEXT NOT NULL,
  bridge TEXT NOT NULL,
  open INTEGER NOT NULL DEFAULT 1,
  reserved_memory_mb INTEGER NOT NULL,
  facts TEXT NOT NULL,
  memory_mb INTEGER NOT NULL,
  threads INTEGER NOT NULL,
  pool TEXT NOT NULL,
  pool_bytes INTEGER NOT NULL,
  skew_ms INTEGER NOT NULL DEFAULT 0,
  connected_at INTEGER,
  seen_at INTEGER NOT NULL,
  differences TEXT NOT NULL DEFAULT '[]',
  inventory_at INTEGER,
  created_at INTEGER NOT NULL,
  -- Declared lost by staff: its credential has ended, and its workloads have failed.
  lost_at INTEGER,
  removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX nodes_name ON nodes (name) WHERE removed_at IS NULL;
CREATE INDEX nodes_location ON nodes (location_id);

CREATE TABLE enrollments (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  location_id TEXT NOT NULL REFERENCES locations (id),
  name TEXT,
  bridge TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  node_id TEXT REFERENCES nodes (id)
) STRICT;

CREATE TABLE pools (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  version INTEGER NOT NULL CHECK (version IN (4, 6)),
  network TEXT NOT NULL,
  gateway TEXT NOT NULL,
  first TEXT NOT NULL,
  last TEXT NOT NULL,
  resolvers TEXT NOT NULL,
  next_offset TEXT NOT NULL DEFAULT '0',
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE pool_nodes (
  pool_id TEXT NOT NULL REFERENCES pools (id) ON DELETE CASCADE,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  PRIMARY KEY (pool_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pool_nodes_node ON pool_nodes (node_id);

CREATE TABLE images (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE,
  origin TEXT NOT NULL CHECK (origin IN ('catalogue', 'imported')),
  catalogue_id TEXT,
  url TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('qcow2', 'raw')),
  checksum TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  min_disk_gb INTEGER NOT NULL,
  user TEXT NOT NULL,
  published INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX images_name ON images (name) WHERE removed_at IS NULL;

-- What occupies a node on behalf of an owner: servers first, other kinds later. Placement, quotas, addresses, team access, reports of
-- nodes and usage depend on this table alone; the table of a kind holds what only that kind has, under the same id.
CREATE TABLE workloads (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  number INTEGER NOT NULL UNIQUE,
  owner_id TEXT NOT NULL REFERENCES accounts (id),
  reseller_id TEXT REFERENCES accounts (id),
  node_id TEXT NOT NULL REFERENCES nodes (id),
  location_id TEXT NOT NULL REFERENCES locations (id),
  hostname TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL,
  vcpus INTEGER NOT NULL,
  memory_mb INTEGER NOT NULL,
  disk_gb INTEGER NOT NULL,
  spare_disk_gb INTEGER NOT NULL DEFAULT 0 CHECK (spare_disk_gb >= 0),
  disk_generation INTEGER,
  last_disk_generation INTEGER NOT NULL DEFAULT 0,
  gpus INTEGER NOT NULL DEFAULT 0,
  mac TEXT NOT NULL UNIQUE,
  placement TEXT NOT NULL,
  lifecycle TEXT NOT NULL CHECK (lifecycle IN ('pending_setup', 'provisioning', 'active', 'failed', 'terminated')),
  failure TEXT,
  suspended_at INTEGER,
  suspend_reason TEXT,
  power TEXT,
  wanted_power TEXT NOT NULL DEFAULT 'stopped' CHECK (wanted_power IN ('running', 'stopped')),
  created_at INTEGER NOT NULL,
  terminated_at INTEGER,
  released_at INTEGER,
  CHECK ((lifecycle = 'terminated') = (terminated_at IS NOT NULL)),
  CHECK ((suspended_at IS NULL) = (suspend_reason IS NULL))
) STRICT;
CREATE UNIQUE INDEX workloads_hostname ON workloads (owner_id, hostname) WHERE terminated_at IS NULL;
CREATE INDEX workloads_node ON workloads (node_id, id);
CREATE INDEX workloads_owner ON workloads (owner_id, id);
CREATE INDEX workloads_reseller ON workloads (reseller_id, id) WHERE reseller_id IS NOT NULL;
-- The id first: with the kind first the planner would go through all of a kind for the few of one owner.
CREATE INDEX workloads_listed ON workloads (id, kind) WHERE terminated_at IS NULL;
CREATE INDEX workloads_state ON workloads (lifecycle, suspended_at, power, kind);

CREATE TABLE servers (
  id TEXT PRIMARY KEY REFERENCES workloads (id),
  package_id TEXT NOT NULL REFERENCES packages (id),
  image_id TEXT REFERENCES images (id),
  traffic_gb INTEGER,
  port_mbps INTEGER,
  pool TEXT NOT NULL,
  format TEXT NOT NULL,
  protected INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX servers_package ON servers (package_id);
CREATE INDEX servers_image ON servers (image_id) WHERE image_id IS NOT NULL;

-- What the workloads of each node hold. Triggers keep the sums: every order reads them, and no write path can forget them.
-- A workload holds memory and disk until its node has deleted what it had of it.
CREATE TABLE node_held (
  node_id TEXT PRIMARY KEY REFERENCES nodes (id),
  workloads INTEGER NOT NULL,
  memory_mb INTEGER NOT NULL,
  disk_gb INTEGER NOT NULL
) STRICT;
CREATE TRIGGER node_holds_a_workload AFTER INSERT ON workloads WHEN new.released_at IS NULL BEGIN
  INSERT INTO node_held VALUES (new.node_id, 1, new.memory_mb, new.disk_gb + new.spare_disk_gb)
  ON CONFLICT (node_id) DO UPDATE SET workloads = workloads + 1, memory_mb = memory_mb + excluded.memory_mb, disk_gb = disk_gb + excluded.disk_gb;
END;
CREATE TRIGGER node_holds_a_changed_workload AFTER UPDATE OF node_id, memory_mb, disk_gb, spare_disk_gb, released_at ON workloads BEGIN
  UPDATE node_held SET workloads = workloads - 1, memory_mb = memory_mb - old.memory_mb, disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb WHERE node_id = old.node_id AND old.released_at IS NULL;
  INSERT INTO node_held SELECT new.node_id, 1, new.memory_mb, new.disk_gb + new.spare_disk_gb WHERE new.released_at IS NULL
  ON CONFLICT (node_id) DO UPDATE SET workloads = workloads + 1, memory_mb = memory_mb + excluded.memory_mb, disk_gb = disk_gb + excluded.disk_gb;
END;
CREATE TRIGGER node_holds_a_workload_no_more AFTER DELETE ON workloads WHEN old.released_at IS NULL BEGIN
  UPDATE node_held SET workloads = workloads - 1, memory_mb = memory_mb - old.memory_mb, disk_gb = disk_gb - old.disk_gb - old.spare_disk_gb WHERE node_id = old.node_id;
END;

CREATE TABLE addresses (
  id TEXT PRIMARY KEY,
  pool_id TEXT NOT NULL REFERENCES pools (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  address TEXT NOT NULL UNIQUE,
  prefix_length INTEGER NOT NULL,
  place INTEGER NOT NULL,
  workload_id TEXT REFERENCES workloads (id),
  reserved_for TEXT,
  is_primary INTEGER NOT NULL DEFAULT 0,
  UNIQUE (pool_id, place)
) STRICT;
CREATE INDEX addresses_free ON addresses (pool_id, place) WHERE workload_id IS NULL AND reserved_for IS NULL;
CREATE INDEX addresses_workload ON addresses (workload_id) WHERE workload_id IS NOT NULL;

-- Work, and what is kept of it
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  input TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'undoing', 'succeeded', 'failed')),
  holds TEXT,
  node_id TEXT,
  subject_type TEXT,
  subject_id TEXT,
  lane TEXT NOT NULL,
  parent_id TEXT,
  started_by_type TEXT NOT NULL,
  started_by_id TEXT NOT NULL,
  started_by_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  progress INTEGER NOT NULL,
  step_n INTEGER NOT NULL,
  step_of INTEGER NOT NULL,
  step_name TEXT,
  error_code TEXT,
  error_message TEXT,
  tries INTEGER NOT NULL,
  cancel_scope TEXT,
  cancel_requested_at INTEGER,
  cancel_by_type TEXT,
  cancel_by_id TEXT,
  cancel_by_name TEXT,
  cancel_reason TEXT,
  -- Since when it waits for a node that is away.
  waiting_since INTEGER,
  -- It has failed, and the rest of its undo waits until this node is back.
  undo_node_id TEXT
) STRICT;
CREATE INDEX jobs_holding ON jobs (holds) WHERE state IN ('queued', 'running', 'undoing');
-- One job at a time has a lock; others may wait for it.
CREATE UNIQUE INDEX jobs_lock ON jobs (holds) WHERE state IN ('running', 'undoing') OR undo_node_id IS NOT NULL;
CREATE INDEX jobs_open ON jobs (state, id) WHERE state IN ('queued', 'running', 'undoing');
-- By rowid, which every index ends with: what was queued since the runner last looked.
CREATE INDEX jobs_queued ON jobs (state) WHERE state = 'queued';
CREATE INDEX jobs_subject ON jobs (subject_id, id);
CREATE INDEX jobs_node ON jobs (node_id, id);
CREATE INDEX jobs_parent ON jobs (parent_id) WHERE parent_id IS NOT NULL;
-- Asked after every commit; both are almost always empty.
CREATE INDEX jobs_cancel ON jobs (state) WHERE cancel_requested_at IS NOT NULL AND state IN ('queued', 'running');
CREATE INDEX jobs_undo ON jobs (undo_node_id) WHERE undo_node_id IS NOT NULL;

CREATE TABLE job_steps (
  job_id TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  output TEXT,
  PRIMARY KEY (job_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_log (
  job_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  level TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (job_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  actor_id TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  via TEXT NOT NULL,
  operation TEXT NOT NULL,
  target TEXT,
  from_address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  result TEXT NOT NULL,
  details TEXT,
  -- The chain: a line without its place and hash was not written by the product.
  seq INTEGER UNIQUE,
  hash TEXT
) STRICT;
CREATE INDEX audit_target ON audit (target, id) WHERE target IS NOT NULL;
-- Nothing in the product changes or deletes an audit line; the database refuses it too.
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

CREATE TABLE idempotency (
  account_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  key TEXT NOT NULL,
  status INTEGER NOT NULL,
  answer TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, operation, key)
) STRICT;
CREATE INDEX idempotency_age ON idempotency (created_at);

CREATE TABLE events (
  -- Counts up and is never used again: a reader remembers the last one that it took.
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  subject_type TEXT,
  subject_id TEXT,
  customer_id TEXT,
  reseller_id TEXT,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX events_created ON events (created_at);
CREATE INDEX events_subject ON events (subject_id, seq);

CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  lane TEXT NOT NULL,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  encrypted_payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  until INTEGER,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  error TEXT
) STRICT;
CREATE UNIQUE INDEX deliveries_key ON deliveries (kind, key);
CREATE INDEX deliveries_kind ON deliveries (kind) WHERE state = 'waiting';
CREATE INDEX deliveries_lane ON deliveries (kind, lane) WHERE state = 'waiting';
CREATE INDEX deliveries_due ON deliveries (kind, lane, next_at) WHERE state = 'waiting';
CREATE INDEX deliveries_next ON deliveries (kind, next_at, lane) WHERE state = 'waiting';
CREATE INDEX deliveries_until ON deliveries (kind, until) WHERE state = 'waiting' AND until IS NOT NULL;
CREATE INDEX deliveries_ended ON deliveries (kind, state, ended_at) WHERE state <> 'waiting';

-- One row per lane that waits, is paused, or has dropped something; the row of the lane '' counts for its whole kind.
CREATE TABLE delivery_lanes (
  kind TEXT NOT NULL,
  lane TEXT NOT NULL,
  waiting INTEGER NOT NULL DEFAULT 0,
  paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  dropped INTEGER NOT NULL DEFAULT 0,
  dropped_at INTEGER,
  changes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (kind, lane)
) STRICT;
CREATE INDEX delivery_lanes_kinds ON delivery_lanes (changes) WHERE lane = '';

-- Counted here, because counting 50 000 waiting rows for each new one costs a millisecond.
CREATE TRIGGER deliveries_queued AFTER INSERT ON deliveries WHEN new.state = 'waiting' BEGIN
  INSERT INTO delivery_lanes (kind, lane, waiting) VALUES (new.kind, new.lane, 1), (new.kind, '', 1)
    ON CONFLICT (kind, lane) DO UPDATE SET waiting = waiting + 1;
END;
CREATE TRIGGER deliveries_ended AFTER UPDATE OF state ON deliveries WHEN old.state = 'waiting' AND new.state <> 'waiting' BEGIN
  UPDATE delivery_lanes SET waiting = waiting - 1 WHERE kind = new.kind AND lane IN (new.lane, '');
END;
CREATE TRIGGER deliveries_dropped AFTER DELETE ON deliveries WHEN old.state = 'waiting' BEGIN
  UPDATE delivery_lanes SET waiting = waiting - 1 WHERE kind = old.kind AND lane IN (old.lane, '');
END;
