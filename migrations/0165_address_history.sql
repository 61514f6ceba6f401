-- Who had an address, from when to when, and by which operation or job it came and went: of every workload and floating address.
-- A row is one holding: with another owner, or pointed to another workload, begins another row.
CREATE TABLE address_history (
  id INTEGER PRIMARY KEY,
  address_id TEXT NOT NULL,
  pool_id TEXT NOT NULL,
  address TEXT NOT NULL,
  prefix_length INTEGER NOT NULL,
  version INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('primary', 'extra', 'floating')),
  workload_id TEXT,
  floating_ip_id TEXT,
  owner_id TEXT NOT NULL,
  -- Names as they were when it ended, or began.
  hostname TEXT,
  floating_ip_name TEXT,
  since INTEGER NOT NULL,
  -- 0: it had the address when this history began; since when is not known.
  since_known INTEGER NOT NULL DEFAULT 1,
  began_action TEXT,
  began_by TEXT,
  began_job TEXT,
  until INTEGER CHECK (until > since),
  ended_action TEXT,
  ended_by TEXT,
  ended_job TEXT,
  -- Nobody was given the address before; null: it did not rest.
  rested_until INTEGER
) STRICT;
CREATE UNIQUE INDEX address_history_open ON address_history (address_id) WHERE until IS NULL;
CREATE INDEX address_history_line ON address_history (address_id, since);
CREATE INDEX address_history_address ON address_history (address, prefix_length, since);
CREATE INDEX address_history_pool ON address_history (pool_id, id);
CREATE INDEX address_history_ended ON address_history (until) WHERE until IS NOT NULL;
CREATE TRIGGER address_history_names AFTER UPDATE OF until ON address_history WHEN OLD.until IS NULL AND NEW.until IS NOT NULL
BEGIN
  UPDATE address_history SET hostname = coalesce((SELECT hostname FROM workloads w WHERE w.id = NEW.workload_id), hostname)
  WHERE id = NEW.id;
END;
CREATE TRIGGER address_history_no_overlap BEFORE INSERT ON address_history
WHEN EXISTS (SELECT 1 FROM address_history WHERE address_id = NEW.address_id AND (until IS NULL OR until > NEW.since))
BEGIN SELECT RAISE(ABORT, 'holdings of an address must not overlap'); END;

-- Addresses of which the history does not say yet who has them now. Triggers add them, so that no code that changes a row can
-- forget it; the end of the same change takes them in.
CREATE TABLE address_history_due (address_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TRIGGER address_history_due_insert AFTER INSERT ON addresses WHEN NEW.workload_id IS NOT NULL OR NEW.holder_id IS NOT NULL
BEGIN INSERT INTO address_history_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_history_due_update AFTER UPDATE OF workload_id, holder_id, is_primary ON addresses
WHEN OLD.workload_id IS NOT NEW.workload_id OR OLD.holder_id IS NOT NEW.holder_id OR OLD.is_primary <> NEW.is_primary
BEGIN INSERT INTO address_history_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_history_due_delete AFTER DELETE ON addresses WHEN OLD.workload_id IS NOT NULL OR OLD.holder_id IS NOT NULL
BEGIN INSERT INTO address_history_due VALUES (OLD.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_history_due_floating_insert AFTER INSERT ON floating_ips
BEGIN INSERT INTO address_history_due VALUES (NEW.address_id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_history_due_floating_update AFTER UPDATE OF owner_id ON floating_ips WHEN OLD.owner_id <> NEW.owner_id
BEGIN INSERT INTO address_history_due VALUES (NEW.address_id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_history_due_floating_delete AFTER DELETE ON floating_ips
BEGIN INSERT INTO address_history_due VALUES (OLD.address_id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_history_due_workload AFTER UPDATE OF owner_id ON workloads WHEN OLD.owner_id <> NEW.owner_id
BEGIN INSERT INTO address_history_due SELECT id FROM addresses WHERE workload_id = NEW.id AND holder_id IS NULL ON CONFLICT DO NOTHING; END;

-- Who has each address now.
CREATE VIEW address_holding_now AS
SELECT a.id AS address_id, a.pool_id, a.address, a.prefix_length, a.version, iif(a.is_primary, 'primary', 'extra') AS kind,
  w.id AS workload_id, NULL AS floating_ip_id, w.owner_id, w.hostname, NULL AS floating_ip_name
FROM addresses a JOIN workloads w ON w.id = a.workload_id
WHERE a.holder_id IS NULL
UNION ALL
SELECT a.id, a.pool_id, a.address, a.prefix_length, a.version, 'floating', w.id, f.id, f.owner_id, w.hostname, f.name
FROM addresses a JOIN floating_ips f ON f.address_id = a.id LEFT JOIN workloads w ON w.id = a.workload_id;

-- The history with what is known by now of those in it.
CREATE VIEW address_history_lines AS
SELECT h.*, p.name AS pool_name, w.kind AS workload_kind, iif(h.until IS NULL, coalesce(w.hostname, h.hostname), h.hostname) AS name,
  w.terminated_at AS workload_terminated_at, coalesce(c.name, h.owner_id) AS owner_name, c.kind AS owner_kind
FROM address_history h LEFT JOIN pools p ON p.id = h.pool_id LEFT JOIN workloads w ON w.id = h.workload_id
  LEFT JOIN accounts c ON c.id = h.owner_id;

-- Those that somebody has already. The usage knows since when of extra and floating ones; of others it is the time of this start.
INSERT INTO address_history (address_id, pool_id, address, prefix_length, version, kind, workload_id, floating_ip_id, owner_id,
  hostname, floating_ip_name, since, since_known)
SELECT n.address_id, n.pool_id, n.address, n.prefix_length, n.version, n.kind, n.workload_id, n.floating_ip_id, n.owner_id, n.hostname,
  n.floating_ip_name, coalesce(i.since, CAST(unixepoch('subsec') * 1000 AS INTEGER)), i.since IS NOT NULL
FROM address_holding_now n LEFT JOIN address_intervals i ON i.address_id = n.address_id AND i.until IS NULL
  AND i.workload_id IS n.workload_id AND i.owner_id = n.owner_id AND i.kind = n.kind;
