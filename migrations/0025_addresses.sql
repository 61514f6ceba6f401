-- An address that something other than a workload holds, such as a floating address: no order gets it, whether a
-- workload has it now or not. `holder_reseller_id` is the reseller in whose quota it counts.
ALTER TABLE addresses ADD COLUMN holder_id TEXT;
ALTER TABLE addresses ADD COLUMN holder_reseller_id TEXT REFERENCES accounts (id);
CREATE INDEX addresses_holder ON addresses (holder_id) WHERE holder_id IS NOT NULL;
CREATE INDEX addresses_holder_reseller ON addresses (holder_reseller_id) WHERE holder_reseller_id IS NOT NULL;

CREATE TABLE floating_ips (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES accounts (id),
  reseller_id TEXT REFERENCES accounts (id),
  location_id TEXT NOT NULL REFERENCES locations (id),
  address_id TEXT NOT NULL UNIQUE REFERENCES addresses (id),
  name TEXT NOT NULL,
  -- The job that moves it; null: none does.
  job_id TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX floating_ips_owner ON floating_ips (owner_id);
CREATE INDEX floating_ips_reseller ON floating_ips (reseller_id) WHERE reseller_id IS NOT NULL;
CREATE INDEX floating_ips_location ON floating_ips (location_id);

-- The wanted names of addresses, and whether the name server has them. A row with a null name is a name to be deleted;
-- it goes when the name server has deleted it.
CREATE TABLE reverse_names (
  address TEXT PRIMARY KEY,
  address_id TEXT REFERENCES addresses (id) ON DELETE SET NULL,
  name TEXT,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'set', 'refused')),
  error TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  -- Counts the changes: the outcome of a call that a change has overtaken is not recorded.
  revision INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX reverse_names_address ON reverse_names (address_id) WHERE address_id IS NOT NULL;
CREATE INDEX reverse_names_waiting ON reverse_names (next_at) WHERE state = 'waiting';
CREATE INDEX reverse_names_refused ON reverse_names (updated_at) WHERE state = 'refused';

-- Whoever gets an address next gets it without the name of the one before. A floating address keeps its name while it
-- moves between servers of its owner.
CREATE TRIGGER addresses_nameless AFTER UPDATE OF workload_id, holder_id ON addresses
WHEN (OLD.workload_id IS NOT NULL OR OLD.holder_id IS NOT NULL) AND NEW.holder_id IS NULL
  AND (NEW.workload_id IS NULL OR OLD.holder_id IS NOT NULL)
BEGIN
  UPDATE reverse_names SET name = NULL, state = 'waiting', error = NULL, tries = 0, next_at = 0, revision = revision + 1
  WHERE address_id = NEW.id;
END;
