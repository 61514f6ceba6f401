-- What the owners of imported servers are told. A kind without a row has the usual words.
CREATE TABLE import_messages (
  import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('before', 'during', 'after')),
  is_on INTEGER NOT NULL,
  subject TEXT NOT NULL,
  words TEXT NOT NULL,
  PRIMARY KEY (import_id, kind)
) STRICT, WITHOUT ROWID;
-- Who was told, so that nobody is told twice: of `before` an address, of `during` and `after` a server, of an invitation
-- an account.
CREATE TABLE import_told (
  import_id TEXT NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('before', 'during', 'after', 'invitation')),
  subject TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (import_id, kind, subject)
) STRICT, WITHOUT ROWID;
