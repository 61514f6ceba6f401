-- How an installation, or a reseller to its own customers, shows itself. The row without an account is the installation's.
CREATE TABLE branding (
  account_id TEXT REFERENCES accounts (id),
  name TEXT,
  accent TEXT,
  sender_name TEXT,
  sender_address TEXT,
  logo BLOB,
  logo_type TEXT,
  logo_hash TEXT
) STRICT;
CREATE UNIQUE INDEX branding_of ON branding (coalesce(account_id, ''));
CREATE INDEX branding_logo ON branding (logo_hash) WHERE logo_hash IS NOT NULL;

-- The audit log: what a change changed, the job it started, and ways to find a line among a million.
ALTER TABLE audit ADD COLUMN changes TEXT;
ALTER TABLE audit ADD COLUMN job_id TEXT;
CREATE INDEX audit_actor ON audit (actor_id, id);
CREATE INDEX audit_operation ON audit (operation, id);
CREATE INDEX audit_from ON audit (from_address, id);
CREATE INDEX audit_at ON audit (at, id);
CREATE INDEX audit_refused ON audit (id) WHERE result <> 'done';

CREATE TABLE announcements (
  id TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  audience TEXT NOT NULL CHECK (audience IN ('everybody', 'customers', 'resellers', 'staff')),
  level TEXT NOT NULL CHECK (level IN ('info', 'warn', 'bad')),
  starts_at INTEGER NOT NULL,
  ends_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
