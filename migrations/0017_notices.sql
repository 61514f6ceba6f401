-- Notices of a person: what happened without them. Their unread number stands on every page.
CREATE TABLE notices (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  words TEXT NOT NULL,
  href TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  read_at INTEGER
) STRICT;
CREATE INDEX notices_of_account ON notices (account_id, id);
CREATE INDEX notices_unread ON notices (account_id) WHERE read_at IS NULL;
CREATE INDEX notices_age ON notices (created_at);

-- The kinds of notices that a person does not want by mail.
CREATE TABLE notices_without_mail (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL,
  PRIMARY KEY (account_id, kind)
) STRICT, WITHOUT ROWID;
