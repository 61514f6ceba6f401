-- Links that let a person in, once
CREATE TABLE one_time_links (
  id TEXT PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('welcome', 'reset', 'email', 'sign-in')),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  email TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  data TEXT,
  made_by TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX one_time_links_account ON one_time_links (account_id, purpose, created_at);
CREATE INDEX one_time_links_expires ON one_time_links (expires_at);

-- Who asked for a new password, until it is looked up
CREATE TABLE reset_requests (
  id INTEGER PRIMARY KEY,
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
