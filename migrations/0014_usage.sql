-- What each workload was, from when to when: the ledger from which usage is reported and billed. A closed interval never changes
-- again, so that a report of a past month says the same for ever.
CREATE TABLE usage_intervals (
  id INTEGER PRIMARY KEY,
  workload_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  reseller_id TEXT,
  hostname TEXT NOT NULL,
  product_id TEXT,
  product_name TEXT,
  billing_product_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('pending_setup', 'provisioning', 'active', 'failed', 'suspended')),
  since INTEGER NOT NULL,
  until INTEGER CHECK (until > since)
) STRICT;
CREATE UNIQUE INDEX usage_intervals_open ON usage_intervals (workload_id) WHERE until IS NULL;
-- The sums of a report, by line and by account, read one of these indexes alone (test/bench/usage.ts: a million intervals).
CREATE INDEX usage_intervals_line ON usage_intervals
  (workload_id, owner_id, product_id, product_name, billing_product_id, state, since, until);
CREATE INDEX usage_intervals_owner ON usage_intervals
  (owner_id, product_id, product_name, billing_product_id, workload_id, since, until);
CREATE INDEX usage_intervals_reseller ON usage_intervals (reseller_id, workload_id) WHERE reseller_id IS NOT NULL;

CREATE TRIGGER usage_intervals_no_overlap BEFORE INSERT ON usage_intervals
WHEN EXISTS (SELECT 1 FROM usage_intervals WHERE workload_id = NEW.workload_id AND (until IS NULL OR until > NEW.since))
BEGIN SELECT RAISE(ABORT, 'usage intervals of a workload must not overlap'); END;
CREATE TRIGGER usage_intervals_final_update BEFORE UPDATE ON usage_intervals WHEN OLD.until IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a closed usage interval never changes'); END;
CREATE TRIGGER usage_intervals_final_delete BEFORE DELETE ON usage_intervals WHEN OLD.until IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a closed usage interval is never deleted'); END;

-- Workloads of which the ledger does not say yet what they are now. Triggers add them, so that no code that changes a row can
-- forget it; the ledger takes them at the end of the same transaction.
CREATE TABLE usage_due (workload_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TRIGGER usage_workload_insert AFTER INSERT ON workloads
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER usage_workload_update AFTER UPDATE OF kind, owner_id, reseller_id, hostname, lifecycle, suspended_at ON workloads
  WHEN OLD.kind <> NEW.kind OR OLD.owner_id <> NEW.owner_id OR OLD.reseller_id IS NOT NEW.reseller_id
    OR OLD.hostname <> NEW.hostname OR OLD.lifecycle <> NEW.lifecycle OR OLD.suspended_at IS NOT NEW.suspended_at
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER usage_server_insert AFTER INSERT ON servers
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER usage_server_update AFTER UPDATE OF package_id ON servers WHEN OLD.package_id <> NEW.package_id
BEGIN INSERT INTO usage_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER usage_package_update AFTER UPDATE OF name, billing_product_id ON packages
  WHEN OLD.name <> NEW.name OR OLD.billing_product_id IS NOT NEW.billing_product_id
BEGIN
  INSERT INTO usage_due SELECT s.id FROM servers s JOIN workloads w ON w.id = s.id
    WHERE s.package_id = NEW.id AND w.terminated_at IS NULL ON CONFLICT DO NOTHING;
END;
INSERT INTO usage_due SELECT id FROM workloads WHERE terminated_at IS NULL;

-- Traffic by day: sums that a node reported last, by the meter that added them up, and the parts of them that are billed to an
-- owner. Only what a sum has grown by is added, so a report that comes twice adds nothing.
CREATE TABLE traffic_meters (
  workload_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  meter TEXT NOT NULL,
  rx_bytes INTEGER NOT NULL,
  tx_bytes INTEGER NOT NULL,
  measured_seconds INTEGER NOT NULL,
  PRIMARY KEY (workload_id, day, meter)
) STRICT;
CREATE TABLE traffic_days (
  workload_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  owner_id TEXT NOT NULL,
  rx_bytes INTEGER NOT NULL,
  tx_bytes INTEGER NOT NULL,
  measured_seconds INTEGER NOT NULL,
  PRIMARY KEY (workload_id, day, owner_id)
) STRICT;

-- What each workload is now. A migration that adds a kind of workload makes this view anew, with what is sold of that kind.
CREATE VIEW usage_now AS
SELECT w.id AS workload_id, w.kind, w.owner_id, w.reseller_id, w.hostname, p.id AS product_id, p.name AS product_name,
  p.billing_product_id,
  CASE WHEN w.lifecycle = 'terminated' THEN NULL WHEN w.suspended_at IS NOT NULL THEN 'suspended' ELSE w.lifecycle END AS state,
  w.created_at, w.suspended_at, w.terminated_at
FROM workloads w LEFT JOIN servers s ON s.id = w.id LEFT JOIN packages p ON p.id = s.package_id;
