-- After a restore or a takeover that lost changes, nodes run servers that the database does not know, or that it knows
-- without some of their addresses. A node names the addresses on it. One that the database does not give to the server that
-- has it there is a claim, and no order gets it while the node says so. workload_id may be the id of no workload.
CREATE TABLE address_claims (
  address_id TEXT NOT NULL REFERENCES addresses (id) ON DELETE CASCADE,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  workload_id TEXT NOT NULL,
  -- The reason of the reservation, and how a reservation is told from one of staff.
  words TEXT NOT NULL,
  -- Staff freed the address although the node names it: it is not reserved again.
  overruled INTEGER NOT NULL DEFAULT 0,
  since INTEGER NOT NULL,
  PRIMARY KEY (address_id, node_id)
) STRICT;
CREATE INDEX address_claims_node ON address_claims (node_id);

-- A claimed address that another server or a floating address had is not free when these let go of it.
CREATE TRIGGER addresses_claimed AFTER UPDATE OF workload_id, holder_id ON addresses
WHEN (OLD.workload_id IS NOT NULL OR OLD.holder_id IS NOT NULL) AND NEW.workload_id IS NULL AND NEW.reserved_for IS NULL
  AND EXISTS (SELECT 1 FROM address_claims WHERE address_id = NEW.id AND overruled = 0)
BEGIN
  UPDATE addresses SET reserved_for = (SELECT words FROM address_claims WHERE address_id = NEW.id AND overruled = 0 LIMIT 1)
  WHERE id = NEW.id;
END;

-- 1 for a claimed prefix: it lies where its pool has not cut yet, and is left out there.
ALTER TABLE addresses ADD COLUMN cut_early INTEGER NOT NULL DEFAULT 0;
CREATE INDEX addresses_cut_early ON addresses (pool_id) WHERE cut_early = 1;

-- Nodes that have not named the addresses on them since this database was put in place of another one: pools that they
-- route give none until then.
CREATE TABLE awaited_nodes (node_id TEXT PRIMARY KEY REFERENCES nodes (id)) STRICT;
-- A database from before this migration that was restored a moment ago.
INSERT INTO awaited_nodes SELECT id FROM nodes WHERE removed_at IS NULL AND lost_at IS NULL
  AND EXISTS (SELECT 1 FROM settings WHERE name = 'controller.epoch');
