-- GPU container hosts, their cards, what instances hold of them, and what is sold: images and offers.
-- A node becomes a GPU host with its first card. Staff decide on `open`, the address and the ports.
CREATE TABLE gpu_hosts (
  node_id TEXT PRIMARY KEY REFERENCES nodes (id),
  engine TEXT,
  engine_version TEXT,
  engine_problems TEXT NOT NULL DEFAULT '[]',
  open INTEGER NOT NULL DEFAULT 1,
  public_address TEXT,
  first_port INTEGER NOT NULL DEFAULT 20000,
  last_port INTEGER NOT NULL DEFAULT 29999
) STRICT;

-- The cards of nodes, as their nodes report them. `health` is of the last check; only a card that passed it is sold.
CREATE TABLE gpu_cards (
  id TEXT PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  uuid TEXT NOT NULL,
  model TEXT NOT NULL,
  memory_mb INTEGER NOT NULL,
  bus TEXT NOT NULL,
  driver TEXT NOT NULL,
  serial TEXT NOT NULL,
  nvlinks INTEGER NOT NULL,
  mig TEXT NOT NULL,
  problems TEXT NOT NULL DEFAULT '[]',
  open INTEGER NOT NULL DEFAULT 1,
  health TEXT NOT NULL DEFAULT 'unchecked' CHECK (health IN ('unchecked', 'passed', 'failed')),
  check_problems TEXT NOT NULL DEFAULT '[]',
  checked_at INTEGER,
  -- Not before it is the check tried again, after one that could not be made.
  check_after INTEGER,
  cleared_mb INTEGER,
  memory_gb_per_second REAL,
  workload_id TEXT,
  problems_since INTEGER,
  missing_since INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpu_cards_uuid ON gpu_cards (node_id, uuid);
CREATE INDEX gpu_cards_held ON gpu_cards (workload_id) WHERE workload_id IS NOT NULL;
CREATE INDEX gpu_cards_unchecked ON gpu_cards (node_id) WHERE health = 'unchecked' AND workload_id IS NULL AND missing_since IS NULL;

-- Ports of hosts that lead to instances, and the vCPUs that instances have of their host.
CREATE TABLE gpu_ports (
  node_id TEXT NOT NULL REFERENCES nodes (id),
  port INTEGER NOT NULL,
  workload_id TEXT NOT NULL,
  PRIMARY KEY (node_id, port)
) STRICT, WITHOUT ROWID;
CREATE INDEX gpu_ports_workload ON gpu_ports (workload_id);
CREATE TABLE gpu_holds (
  workload_id TEXT PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  vcpus INTEGER NOT NULL
) STRICT;
CREATE INDEX gpu_holds_node ON gpu_holds (node_id);

CREATE TABLE gpu_images (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  reference TEXT NOT NULL,
  most_mb INTEGER NOT NULL,
  jupyter INTEGER NOT NULL,
  command TEXT,
  environment TEXT NOT NULL,
  ports TEXT NOT NULL,
  registry_username TEXT,
  encrypted_registry_password TEXT,
  archived INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpu_images_name ON gpu_images (name);

CREATE TABLE gpu_offers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  cards INTEGER NOT NULL,
  vcpus INTEGER NOT NULL,
  memory_mb INTEGER NOT NULL,
  workspace_gb INTEGER NOT NULL,
  ports INTEGER NOT NULL,
  own_ipv4 INTEGER NOT NULL,
  billing_product_id TEXT,
  archived INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpu_offers_name ON gpu_offers (name);
-- The images of an offer; the first one that is on sale runs where an order names none.
CREATE TABLE gpu_offer_images (
  offer_id TEXT NOT NULL REFERENCES gpu_offers (id),
  place INTEGER NOT NULL,
  image_id TEXT NOT NULL REFERENCES gpu_images (id),
  PRIMARY KEY (offer_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX gpu_offer_images_image ON gpu_offer_images (image_id);
