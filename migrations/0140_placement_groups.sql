-- Groups of an account's workloads that are to be on one node, or on nodes of their own. `hard`: what breaks the rule is
-- refused; otherwise a node that keeps it comes first.
CREATE TABLE placement_groups (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL,
  reseller_id TEXT,
  name TEXT NOT NULL,
  policy TEXT NOT NULL,
  hard INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX placement_groups_name ON placement_groups (owner_id, name);
CREATE INDEX placement_groups_reseller ON placement_groups (reseller_id) WHERE reseller_id IS NOT NULL;

-- A workload is in one group at most.
CREATE TABLE placement_group_members (
  workload_id TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX placement_group_members_group ON placement_group_members (group_id);

-- A workload that is gone for good, or that gets another owner, is in no group. While it can be brought back it stays.
CREATE TRIGGER placement_group_members_released AFTER UPDATE OF released_at ON workloads
WHEN NEW.released_at IS NOT NULL AND OLD.released_at IS NULL BEGIN
  DELETE FROM placement_group_members WHERE workload_id = NEW.id;
END;
CREATE TRIGGER placement_group_members_owner AFTER UPDATE OF owner_id ON workloads
WHEN NEW.owner_id <> OLD.owner_id BEGIN
  DELETE FROM placement_group_members WHERE workload_id = NEW.id;
END;
