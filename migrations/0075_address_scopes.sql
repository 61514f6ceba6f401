-- The same private range (RFC 1918, RFC 6598, fc00::/7) can be a pool in two locations. An address is unique in its scope: '' is
-- everywhere, a location's id that location, and a pool's own id a private pool that was never attached to a node.
ALTER TABLE pools ADD COLUMN scope TEXT NOT NULL DEFAULT '';
UPDATE pools SET scope = (
  SELECT CASE count(*) WHEN 0 THEN pools.id WHEN 1 THEN min(used.location_id) ELSE '' END FROM (
    SELECT n.location_id FROM pool_nodes pn JOIN nodes n ON n.id = pn.node_id WHERE pn.pool_id = pools.id
    UNION SELECT w.location_id FROM addresses a JOIN workloads w ON w.id = a.workload_id WHERE a.pool_id = pools.id
    UNION SELECT f.location_id FROM addresses a JOIN floating_ips f ON f.address_id = a.id WHERE a.pool_id = pools.id) used)
WHERE network LIKE '10.%' OR network LIKE '192.168.%'
  OR (network LIKE '172.%' AND CAST(substr(network, 5) AS INTEGER) BETWEEN 16 AND 31)
  OR (network LIKE '100.%' AND CAST(substr(network, 5) AS INTEGER) BETWEEN 64 AND 127)
  OR lower(network) GLOB 'f[cd][0-9a-f][0-9a-f]:*';

-- The uniqueness of a column cannot be taken back, so the table is made anew. Its deletion would take the claims along and
-- empty the links of names; these come back below.
PRAGMA defer_foreign_keys = ON;
CREATE TABLE addresses_before AS SELECT a.*, p.scope FROM addresses a JOIN pools p ON p.id = a.pool_id ORDER BY a.rowid;
CREATE TABLE claims_before AS SELECT * FROM address_claims;
CREATE TABLE names_before AS SELECT address, address_id FROM reverse_names WHERE address_id IS NOT NULL;
DROP TABLE addresses;
CREATE TABLE addresses (
  id TEXT PRIMARY KEY,
  pool_id TEXT NOT NULL REFERENCES pools (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  address TEXT NOT NULL,
  prefix_length INTEGER NOT NULL,
  place INTEGER NOT NULL,
  workload_id TEXT REFERENCES workloads (id),
  reserved_for TEXT,
  is_primary INTEGER NOT NULL DEFAULT 0,
  holder_id TEXT,
  holder_reseller_id TEXT REFERENCES accounts (id),
  cut_early INTEGER NOT NULL DEFAULT 0,
  -- That of its pool.
  scope TEXT NOT NULL DEFAULT '',
  UNIQUE (pool_id, place),
  UNIQUE (address, scope)
) STRICT;
INSERT INTO addresses (id, pool_id, version, address, prefix_length, place, workload_id, reserved_for, is_primary, holder_id,
    holder_reseller_id, cut_early, scope)
  SELECT id, pool_id, version, address, prefix_length, place, workload_id, reserved_for, is_primary, holder_id,
    holder_reseller_id, cut_early, scope FROM addresses_before;
INSERT INTO address_claims SELECT * FROM claims_before;
UPDATE reverse_names SET address_id = (SELECT b.address_id FROM names_before b WHERE b.address = reverse_names.address);
DROP TABLE addresses_before;
DROP TABLE claims_before;
DROP TABLE names_before;

CREATE INDEX addresses_free ON addresses (pool_id, place) WHERE workload_id IS NULL AND reserved_for IS NULL;
CREATE INDEX addresses_workload ON addresses (workload_id) WHERE workload_id IS NOT NULL;
CREATE INDEX addresses_holder ON addresses (holder_id) WHERE holder_id IS NOT NULL;
CREATE INDEX addresses_holder_reseller ON addresses (holder_reseller_id) WHERE holder_reseller_id IS NOT NULL;
CREATE INDEX addresses_cut_early ON addresses (pool_id) WHERE cut_early = 1;

-- An address that is unique everywhere is in no other scope.
CREATE TRIGGER addresses_scope_insert BEFORE INSERT ON addresses
WHEN EXISTS (SELECT 1 FROM addresses WHERE address = NEW.address AND scope <> NEW.scope AND '' IN (scope, NEW.scope))
BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: addresses.address'); END;
CREATE TRIGGER addresses_scope_update BEFORE UPDATE OF scope, address ON addresses
WHEN EXISTS (SELECT 1 FROM addresses WHERE address = NEW.address AND id <> NEW.id AND scope <> NEW.scope
  AND '' IN (scope, NEW.scope))
BEGIN SELECT RAISE(ABORT, 'UNIQUE constraint failed: addresses.address'); END;

-- The scope is said by the pool alone.
CREATE TRIGGER addresses_scope_of_pool BEFORE INSERT ON addresses
WHEN NEW.scope <> (SELECT scope FROM pools WHERE id = NEW.pool_id)
BEGIN SELECT RAISE(ABORT, 'the scope of an address is that of its pool'); END;
CREATE TRIGGER pools_scope AFTER UPDATE OF scope ON pools WHEN OLD.scope <> NEW.scope
BEGIN UPDATE addresses SET scope = NEW.scope WHERE pool_id = NEW.id; END;

-- As they were (0008, 0025, 0049, 0068).
CREATE TRIGGER addresses_version AFTER UPDATE ON addresses WHEN OLD.workload_id IS NOT NULL OR NEW.workload_id IS NOT NULL
BEGIN UPDATE workloads SET version = version + 1 WHERE id IN (OLD.workload_id, NEW.workload_id); END;
CREATE TRIGGER addresses_version_insert AFTER INSERT ON addresses WHEN NEW.workload_id IS NOT NULL
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.workload_id; END;
CREATE TRIGGER addresses_version_delete AFTER DELETE ON addresses WHEN OLD.workload_id IS NOT NULL
BEGIN UPDATE workloads SET version = version + 1 WHERE id = OLD.workload_id; END;
CREATE TRIGGER addresses_nameless AFTER UPDATE OF workload_id, holder_id ON addresses
WHEN (OLD.workload_id IS NOT NULL OR OLD.holder_id IS NOT NULL) AND NEW.holder_id IS NULL
  AND (NEW.workload_id IS NULL OR OLD.holder_id IS NOT NULL)
BEGIN
  UPDATE reverse_names SET name = NULL, state = 'waiting', error = NULL, tries = 0, next_at = 0, revision = revision + 1
  WHERE address_id = NEW.id;
END;
CREATE TRIGGER addresses_claimed AFTER UPDATE OF workload_id, holder_id ON addresses
WHEN (OLD.workload_id IS NOT NULL OR OLD.holder_id IS NOT NULL) AND NEW.workload_id IS NULL AND NEW.reserved_for IS NULL
  AND EXISTS (SELECT 1 FROM address_claims WHERE address_id = NEW.id AND overruled = 0)
BEGIN
  UPDATE addresses SET reserved_for = (SELECT words FROM address_claims WHERE address_id = NEW.id AND overruled = 0 LIMIT 1)
  WHERE id = NEW.id;
END;
CREATE TRIGGER address_due_insert AFTER INSERT ON addresses
WHEN NEW.holder_id IS NOT NULL OR (NEW.workload_id IS NOT NULL AND NEW.is_primary = 0)
BEGIN INSERT INTO address_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_update AFTER UPDATE OF workload_id, holder_id, is_primary ON addresses
WHEN OLD.holder_id IS NOT NULL OR NEW.holder_id IS NOT NULL OR (OLD.workload_id IS NOT NULL AND OLD.is_primary = 0)
  OR (NEW.workload_id IS NOT NULL AND NEW.is_primary = 0)
BEGIN INSERT INTO address_due VALUES (NEW.id) ON CONFLICT DO NOTHING; END;
CREATE TRIGGER address_due_delete AFTER DELETE ON addresses WHEN OLD.holder_id IS NOT NULL OR OLD.workload_id IS NOT NULL
BEGIN INSERT INTO address_due VALUES (OLD.id) ON CONFLICT DO NOTHING; END;
