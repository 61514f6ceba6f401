-- The people with whom an account shares its workloads. Until an invitation is accepted its row has an address and no member.
CREATE TABLE team_members (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES accounts (id),
  email TEXT NOT NULL COLLATE NOCASE,
  member_id TEXT REFERENCES accounts (id),
  workload_id TEXT REFERENCES workloads (id),
  role TEXT NOT NULL CHECK (role IN ('view', 'operate', 'manage')),
  token_hash TEXT UNIQUE,
  invited_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX team_members_invited ON team_members (owner_id, email, coalesce(workload_id, ''));
CREATE UNIQUE INDEX team_members_accepted ON team_members (member_id, owner_id, coalesce(workload_id, '')) WHERE member_id IS NOT NULL;
CREATE INDEX team_members_workload ON team_members (workload_id) WHERE workload_id IS NOT NULL;

-- A workload that changes its owner or ends loses what its owner allowed on it: a later owner does not inherit it.
CREATE TRIGGER workload_leaves_its_team AFTER UPDATE OF owner_id, terminated_at ON workloads
WHEN new.owner_id <> old.owner_id OR new.terminated_at IS NOT NULL BEGIN
  DELETE FROM team_members WHERE workload_id = new.id;
END;
