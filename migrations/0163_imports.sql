-- Imports: other panels that are read, what was found there, and what is decided about it.
CREATE TABLE imports (
  id TEXT PRIMARY KEY,
  -- The kind of the other panel, as its driver is called.
  kind TEXT NOT NULL,
  name TEXT,
  -- With scheme and port, without a path.
  address TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'discovering', 'mapping', 'checking', 'ready', 'migrating', 'verifying',
    'finished', 'cancelled')),
  -- Null once the import is finished or cancelled.
  encrypted_credentials TEXT,
  -- SHA-256 of the certificate that the operator trusts; null: an authority has to vouch for it.
  trusted_sha256 TEXT,
  -- JSON: the certificate that waits for the operator's decision; null: none does.
  asked_certificate TEXT,
  -- JSON: why the last reading ended early, as a code and in words.
  trouble TEXT,
  -- JSON: sentences of the panel's driver for the operator.
  warnings TEXT NOT NULL DEFAULT '[]',
  -- The panel's account that the credentials belong to, as the panel names it.
  account_name TEXT,
  -- Counts the readings that were begun.
  reading INTEGER NOT NULL DEFAULT 0,
  -- The reading whose result is shown; 0: none has ended yet.
  read INTEGER NOT NULL DEFAULT 0,
  -- While it is read: `reading`, or `applying` once the whole panel was read.
  phase TEXT CHECK (phase IN ('reading', 'applying')),
  -- JSON: how far the reading is, list by list.
  progress TEXT NOT NULL DEFAULT '{}',
  -- JSON: which ids of the other panel become which ids for billing.
  billing TEXT NOT NULL,
  -- Counts changes of what is decided, so that a dry run can tell that it is out of date.
  mapping_version INTEGER NOT NULL DEFAULT 0,
  -- The version for which owners and addresses were compared with what is here.
  compared_version INTEGER NOT NULL DEFAULT 0,
  started_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  discovered_at INTEGER,
  checked_at INTEGER,
  started_at INTEGER,
  ended_at INTEGER
) STRICT;
CREATE INDEX imports_status ON imports (status, id);

-- What a reading has found so far. Nothing of it counts before the whole panel was read.
CREATE TABLE import_staged (
  import_id TEXT NOT NULL REFERENCES imports (id),
  list TEXT NOT NULL,
  source_id TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (import_id, list, source_id)
) STRICT, WITHOUT ROWID;

-- In the next tables `read` is the reading that has seen the row last, `source_id` the id in the other panel, `unknown`
-- for everything that the panel does not name, and `is_proposed` says that nobody has decided yet and Berth proposes the choice.
CREATE TABLE import_hypervisors (
  import_id TEXT NOT NULL REFERENCES imports (id),
  source_id TEXT NOT NULL,
  read INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- As the panel has it, and resolved.
  address TEXT NOT NULL,
  addresses TEXT NOT NULL,
  is_panel INTEGER NOT NULL,
  network TEXT,
  bridges TEXT NOT NULL,
  location TEXT,
  choice TEXT CHECK (choice IN ('copy', 'adopt', 'leave_out')),
  -- For copies; null: nobody has chosen.
  location_id TEXT,
  is_proposed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (import_id, source_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE import_packages (
  import_id TEXT NOT NULL REFERENCES imports (id),
  source_id TEXT NOT NULL,
  read INTEGER NOT NULL,
  name TEXT NOT NULL,
  virtualization TEXT NOT NULL,
  vcpus INTEGER,
  memory_mb INTEGER,
  disk_gb REAL,
  traffic_bytes INTEGER,
  port_mbps INTEGER,
  ipv4 INTEGER,
  billing_id TEXT NOT NULL,
  choice TEXT CHECK (choice IN ('own', 'like', 'leave_out')),
  package_id TEXT,
  -- JSON: what the operator changed in the package that is made like it.
  changes TEXT,
  is_proposed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (import_id, source_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE import_ranges (
  import_id TEXT NOT NULL REFERENCES imports (id),
  source_id TEXT NOT NULL,
  read INTEGER NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  first TEXT,
  last TEXT,
  network TEXT,
  is_set INTEGER NOT NULL,
  gateway TEXT,
  prefix_length INTEGER,
  resolvers TEXT NOT NULL,
  reach TEXT NOT NULL,
  hypervisor_ids TEXT NOT NULL,
  choice TEXT CHECK (choice IN ('keep', 'new', 'pool', 'leave_out')),
  -- For `pool`.
  pool_id TEXT,
  is_proposed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (import_id, source_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE import_owners (
  import_id TEXT NOT NULL REFERENCES imports (id),
  source_id TEXT NOT NULL,
  read INTEGER NOT NULL,
  -- In its canonical form; null: unknown owners.
  email TEXT,
  name TEXT,
  kind TEXT NOT NULL,
  parent_id TEXT,
  is_suspended INTEGER NOT NULL,
  billing_id TEXT NOT NULL,
  -- Why somebody has to decide, as it was when it was looked at last.
  conflict TEXT NOT NULL DEFAULT 'none',
  -- The account of the conflict.
  conflict_account_id TEXT,
  choice TEXT CHECK (choice IN ('create', 'merge', 'separate', 'client_area', 'existing', 'one_account', 'leave_out')),
  -- The account that was chosen, for `merge` and `existing`.
  account_id TEXT,
  -- The reseller whose customer the new account becomes; null: of the house.
  reseller_id TEXT,
  -- The account that this import has made for the owner.
  created_account_id TEXT,
  is_proposed INTEGER NOT NULL DEFAULT 0,
  -- Why an earlier choice does not hold any more, in words.
  lapsed TEXT,
  PRIMARY KEY (import_id, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_owners_email ON import_owners (import_id, email);
CREATE INDEX import_owners_choice ON import_owners (import_id, choice, source_id);
CREATE INDEX import_owners_conflict ON import_owners (import_id, conflict, source_id);
CREATE INDEX import_owners_created ON import_owners (created_account_id) WHERE created_account_id IS NOT NULL;

CREATE TABLE import_servers (
  id TEXT PRIMARY KEY,
  import_id TEXT NOT NULL REFERENCES imports (id),
  source_id TEXT NOT NULL,
  -- The server among all servers of all panels, so that another import knows it again.
  identity TEXT NOT NULL,
  read INTEGER NOT NULL,
  uuid TEXT,
  -- Of libvirt on the hypervisor.
  domain TEXT,
  hostname TEXT NOT NULL,
  hypervisor_id TEXT NOT NULL,
  package_id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  virtualization TEXT NOT NULL,
  vcpus INTEGER,
  memory_mb INTEGER,
  disk_gb REAL,
  mac TEXT,
  os_name TEXT,
  is_windows INTEGER NOT NULL,
  is_suspended INTEGER NOT NULL,
  is_in_rescue INTEGER NOT NULL,
  power TEXT NOT NULL,
  made_at INTEGER,
  billing_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'left_out', 'refused', 'ready', 'moving', 'moved', 'failed',
    'rolled_back', 'already_moved')),
  -- Of `refused`: a code.
  refusal TEXT,
  -- Of `left_out`: what leaves it out.
  left_out_by TEXT CHECK (left_out_by IN ('server', 'package', 'hypervisor', 'range', 'owner')),
  -- The operator leaves out this server alone.
  is_left_out INTEGER NOT NULL DEFAULT 0,
  -- Decisions that it waits for.
  undecided INTEGER NOT NULL DEFAULT 0,
  -- Why it could not be given its addresses here, in words.
  address_conflict TEXT,
  workload_id TEXT
) STRICT;
CREATE UNIQUE INDEX import_servers_source ON import_servers (import_id, source_id);
CREATE INDEX import_servers_state ON import_servers (import_id, state, id);
CREATE INDEX import_servers_page ON import_servers (import_id, id);
CREATE INDEX import_servers_hypervisor ON import_servers (import_id, hypervisor_id, state);
CREATE INDEX import_servers_package ON import_servers (import_id, package_id, state);
CREATE INDEX import_servers_owner ON import_servers (import_id, owner_id, state);
CREATE INDEX import_servers_identity ON import_servers (identity, state);
CREATE INDEX import_servers_workload ON import_servers (workload_id) WHERE workload_id IS NOT NULL;

CREATE TABLE import_addresses (
  import_id TEXT NOT NULL REFERENCES imports (id),
  server_id TEXT NOT NULL REFERENCES import_servers (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  version INTEGER NOT NULL,
  -- Of a prefix; null: the address alone.
  prefix_length INTEGER,
  is_primary INTEGER NOT NULL,
  -- `unknown`: in none of the ranges that the panel has.
  range_id TEXT NOT NULL,
  PRIMARY KEY (server_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_addresses_range ON import_addresses (import_id, range_id);
CREATE INDEX import_addresses_address ON import_addresses (import_id, address);

-- The differences between the last reading and the one before.
CREATE TABLE import_changes (
  import_id TEXT NOT NULL REFERENCES imports (id),
  read INTEGER NOT NULL,
  list TEXT NOT NULL,
  source_id TEXT NOT NULL,
  change TEXT NOT NULL CHECK (change IN ('new', 'gone', 'changed')),
  name TEXT NOT NULL,
  -- What has changed, in words.
  words TEXT NOT NULL,
  PRIMARY KEY (import_id, read, list, source_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE import_log (
  import_id TEXT NOT NULL REFERENCES imports (id),
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('info', 'warning', 'error')),
  text TEXT NOT NULL,
  PRIMARY KEY (import_id, n)
) STRICT, WITHOUT ROWID;
