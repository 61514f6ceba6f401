-- A node that was lost or removed has said that nothing of Berth runs on it.
ALTER TABLE nodes ADD COLUMN stopped_at INTEGER;
-- Addresses that were released while their guest may still run on a node that is gone: they are reserved, with `words`.
CREATE TABLE gone_addresses (
  address_id TEXT PRIMARY KEY NOT NULL,
  node_id TEXT NOT NULL,
  words TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX gone_addresses_of_node ON gone_addresses (node_id);
CREATE INDEX gone_addresses_due ON gone_addresses (until);
