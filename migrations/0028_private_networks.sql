-- Networks of an account's servers in one location, which nobody else reaches. `number` makes the identifier on the wire
-- between the nodes; none is used twice.
CREATE TABLE private_networks (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner_id TEXT NOT NULL,
  reseller_id TEXT,
  location_id TEXT NOT NULL,
  name TEXT NOT NULL,
  ipv4 TEXT NOT NULL,
  ipv6 TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX private_networks_name ON private_networks (owner_id, name);
CREATE INDEX private_networks_reseller ON private_networks (reseller_id) WHERE reseller_id IS NOT NULL;

-- Servers in a network, each with a card of its own: `number` makes its MAC address and the name of its tap.
CREATE TABLE private_network_members (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  network_id TEXT NOT NULL,
  workload_id TEXT NOT NULL,
  ipv4 TEXT NOT NULL,
  ipv6 TEXT,
  waits INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  UNIQUE (network_id, workload_id),
  UNIQUE (network_id, ipv4)
) STRICT;
CREATE INDEX private_network_members_workload ON private_network_members (workload_id);

-- What each node was told of a network, as a digest: a difference to what it should know starts a job.
CREATE TABLE private_network_nodes (
  network_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  told TEXT NOT NULL,
  PRIMARY KEY (network_id, node_id)
) STRICT, WITHOUT ROWID;
