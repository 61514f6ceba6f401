-- The choices of a person about a kind of notice. Without a row it comes in the panel and by mail.
CREATE TABLE notice_choices (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL,
  in_panel INTEGER NOT NULL DEFAULT 1,
  by_mail INTEGER NOT NULL DEFAULT 1,
  -- JSON: the ids of the locations about which it comes. Empty: all of them, also later ones.
  location_ids TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (account_id, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO notice_choices (account_id, kind, by_mail) SELECT account_id, kind, 0 FROM notices_without_mail;
DROP TABLE notices_without_mail;

-- A state that a notice is about, such as an outage, and when that state ended.
ALTER TABLE notices ADD COLUMN about TEXT;
ALTER TABLE notices ADD COLUMN over_at INTEGER;
CREATE INDEX notices_about ON notices (about) WHERE about IS NOT NULL;
