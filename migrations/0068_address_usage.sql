-- Who had an address, from when to when: the ledger from which extra and floating addresses are billed. A closed interval never
-- changes again. Addresses that stand when this begins count from then on, floating ones from the time they were reserved.
CREATE TABLE address_intervals (
  id INTEGER PRIMARY KEY,
  address_id TEXT NOT NULL,
  address TEXT NOT NULL,
  prefix_length INTEGER NOT NULL,
  version INTEGER NOT NULL,
  -- No trigger notes a primary one yet.
  kind TEXT NOT NULL CHECK (kind IN ('primary', 'extra', 'floating')),
  -- What has it: a workload or a floating address.
  holder_id TEXT NOT NULL,
  -- Where it is, or points to; NULL: a floating address that points to nothing that is there.
  workload_id TEXT,
  owner_id TEXT NOT NULL,
  reseller_id TEXT,
  billing_service_id TEXT,
  since INTEGER NOT NULL,
  until INTEGER CHECK (until > since)
) STRICT;
CREATE UNIQUE INDEX address_intervals_open ON address_intervals (address_id) WHERE until IS NULL;
CREATE INDEX address_intervals_line ON address_intervals (address_id, holder_id, owner_id, since, until);
CREATE INDEX address_intervals_owner ON address_intervals (owner_id, address_id, holder_id, since, until);
CREATE INDEX address_intervals_reseller ON address_intervals (reseller_id, address_id) WHERE reseller_id IS NOT NULL;

CREATE TRIGGER address_intervals_no_overlap BEFORE INSERT ON address_intervals
WHEN EXISTS (SELECT 1 FROM address_intervals WHERE address_id = NEW.address_id AND (until IS NULL OR until > NEW.since))
BEGIN SELECT RAISE(ABORT, 'intervals of an address must not overlap'); END;
CREATE TRIGGER address_intervals_final_update BEFORE UPDATE ON address_intervals WHEN OLD.until IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a closed interval of an address never changes'); END;

-- Addresses of which the ledger does not say yet who has them now. Triggers add them, so that no code that changes a row can
-- forget it; the ledger takes them at the end of the same transaction.
CREATE TABLE address_due (address_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TRIGGER address_due_insert AFTER INSERT ON addresses
WHEN NEW.holder_id IS NOT NULL OR (NEW.workload_id IS NOT NULL AND NEW.is_primary = 0)
BEGIN INSERT INTO address_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_update AFTER UPDATE OF workload_id, holder_id, is_primary ON addresses
WHEN OLD.holder_id IS NOT NULL OR NEW.holder_id IS NOT NULL OR (OLD.workload_id IS NOT NULL AND OLD.is_primary = 0)
  OR (NEW.workload_id IS NOT NULL AND NEW.is_primary = 0)
BEGIN INSERT INTO address_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_delete AFTER DELETE ON addresses WHEN OLD.holder_id IS NOT NULL OR OLD.workload_id IS NOT NULL
BEGIN INSERT INTO address_due VALUES (OLD.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_floating_insert AFTER INSERT ON floating_ips
BEGIN INSERT INTO address_due VALUES (NEW.address_id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_floating_update AFTER UPDATE OF owner_id, reseller_id ON floating_ips
WHEN OLD.owner_id <> NEW.owner_id OR OLD.reseller_id IS NOT NEW.reseller_id
BEGIN INSERT INTO address_due VALUES (NEW.address_id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_floating_delete AFTER DELETE ON floating_ips
BEGIN INSERT INTO address_due VALUES (OLD.address_id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_workload AFTER UPDATE OF owner_id, reseller_id, lifecycle ON workloads
WHEN OLD.owner_id <> NEW.owner_id OR OLD.reseller_id IS NOT NEW.reseller_id OR OLD.lifecycle <> NEW.lifecycle
BEGIN INSERT INTO address_due SELECT id FROM addresses WHERE workload_id = NEW.id AND is_primary = 0 ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_server AFTER UPDATE OF billing_service_id ON servers
WHEN OLD.billing_service_id IS NOT NEW.billing_service_id
BEGIN INSERT INTO address_due SELECT id FROM addresses WHERE workload_id = NEW.id AND is_primary = 0 ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_gpu_instance AFTER UPDATE OF billing_service_id ON gpu_instances
WHEN OLD.billing_service_id IS NOT NEW.billing_service_id
BEGIN INSERT INTO address_due SELECT id FROM addresses WHERE workload_id = NEW.id AND is_primary = 0 ON CONFLICT DO NOTHING; END;

-- Who has each extra and floating address now. Nobody uses what is kept for a terminated server.
CREATE VIEW address_now AS
SELECT a.id AS address_id, a.address, a.prefix_length, a.version, 'extra' AS kind, w.id AS holder_id, w.id AS workload_id,
  w.owner_id, w.reseller_id, coalesce(s.billing_service_id, g.billing_service_id) AS billing_service_id, NULL AS created_at
FROM addresses a JOIN workloads w ON w.id = a.workload_id LEFT JOIN servers s ON s.id = w.id
  LEFT JOIN gpu_instances g ON g.id = w.id
WHERE a.holder_id IS NULL AND a.is_primary = 0 AND w.lifecycle <> 'terminated'
UNION ALL
SELECT a.id, a.address, a.prefix_length, a.version, 'floating', f.id, w.id, f.owner_id, f.reseller_id,
  coalesce(s.billing_service_id, g.billing_service_id), f.created_at
FROM addresses a JOIN floating_ips f ON f.address_id = a.id
  LEFT JOIN workloads w ON w.id = a.workload_id AND w.lifecycle <> 'terminated'
  LEFT JOIN servers s ON s.id = w.id LEFT JOIN gpu_instances g ON g.id = w.id;

INSERT INTO address_due SELECT id FROM addresses WHERE holder_id IS NOT NULL OR (workload_id IS NOT NULL AND is_primary = 0);
