-- The set-up of servers: startup scripts, own images, password resets that wait for a start, and what guests say.

-- A seed for the next start is attached: `next_stop` while the server still runs, `next_start` once it was off. With a
-- hash it also sets the root password.
ALTER TABLE servers ADD COLUMN pending_seed TEXT CHECK (pending_seed IN ('next_stop', 'next_start'));
ALTER TABLE servers ADD COLUMN pending_password_hash TEXT;
CREATE INDEX servers_pending_seed ON servers (id) WHERE pending_seed IS NOT NULL;

-- What the guest of a server says through its agent. Every text is the guest's claim.
CREATE TABLE server_guests (
  server_id TEXT PRIMARY KEY,
  agent_answers INTEGER NOT NULL DEFAULT 0,
  -- When it is asked next, and how often it did not answer since it started.
  next_look_at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  os_id TEXT,
  os_name TEXT,
  os_version TEXT,
  kernel TEXT,
  detected_at INTEGER,
  seed_tried_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX server_guests_due ON server_guests (next_look_at);

CREATE TRIGGER server_guests_version_insert AFTER INSERT ON server_guests
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.server_id; END;
CREATE TRIGGER server_guests_version AFTER UPDATE OF os_id, os_name, os_version, kernel, detected_at ON server_guests
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.server_id; END;

CREATE TRIGGER workloads_guest_off AFTER UPDATE OF power ON workloads
  WHEN NEW.power IN ('stopped', 'crashed', 'absent') AND OLD.power IS NOT NEW.power
BEGIN
  UPDATE servers SET pending_seed = 'next_start' WHERE id = NEW.id AND pending_seed = 'next_stop';
  UPDATE server_guests SET agent_answers = 0 WHERE server_id = NEW.id;
END;
CREATE TRIGGER workloads_guest_on AFTER UPDATE OF power ON workloads
  WHEN NEW.power = 'running' AND OLD.power IS NOT 'running'
BEGIN UPDATE server_guests SET next_look_at = 0, tries = 0 WHERE server_id = NEW.id; END;

-- Scripts that an account keeps for installations.
CREATE TABLE scripts (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX scripts_name ON scripts (owner_id, name);

-- The startup script of a server's last installation as it was at that moment, and what it left.
CREATE TABLE startup_scripts (
  server_id TEXT PRIMARY KEY,
  job_id TEXT NOT NULL,
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'ended', 'unknown')),
  exit_code INTEGER,
  output TEXT,
  truncated INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;

-- An image that a customer chose: its owner alone sees it, and nodes fetch it from public addresses alone. Its origin is
-- `catalogue`, without an entry there. Two accounts may give the same name.
ALTER TABLE images ADD COLUMN owner_id TEXT;
CREATE INDEX images_owner ON images (owner_id) WHERE owner_id IS NOT NULL;
DROP INDEX images_name;
CREATE UNIQUE INDEX images_name ON images (coalesce(owner_id, ''), name) WHERE removed_at IS NULL;
