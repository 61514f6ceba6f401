-- Whom an account has let into its servers. Until the invitation is accepted nobody is in it but an address.
CREATE TABLE team_members (
  id TEXT PRIMARY KEY,
  owner_id TEXT NOT NULL REFERENCES accounts (id),
  email TEXT NOT NULL COLLATE NOCASE,
  member_id TEXT REFERENCES accounts (id),
  server_id TEXT REFERENCES servers (id),
  role TEXT NOT NULL CHECK (role IN ('view', 'operate', 'manage')),
  token_hash TEXT UNIQUE,
  invited_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX team_members_invited ON team_members (owner_id, email, coalesce(server_id, ''));
CREATE UNIQUE INDEX team_members_accepted ON team_members (member_id, owner_id, coalesce(server_id, '')) WHERE member_id IS NOT NULL;
CREATE INDEX team_members_server ON team_members (server_id) WHERE server_id IS NOT NULL;

-- A server that is another's or gone takes with it what its owner allowed: it does not come back with a later owner.
CREATE TRIGGER server_leaves_its_team AFTER UPDATE OF owner_id, terminated_at ON servers
WHEN new.owner_id <> old.owner_id OR new.terminated_at IS NOT NULL BEGIN
  DELETE FROM team_members WHERE server_id = new.id;
END;
