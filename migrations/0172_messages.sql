-- Messages of the staff to owners of servers. One that is sent has a row for each of its recipients.
CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('draft', 'scheduled', 'sending', 'sent', 'cancelled')),
  -- JSON: the servers whose owners get it.
  audience TEXT NOT NULL,
  -- Resellers get what is about servers of their customers, unless these get it themselves.
  to_customers_of_resellers INTEGER NOT NULL,
  subject TEXT NOT NULL,
  words TEXT NOT NULL,
  -- About their servers: everybody gets it. News can be turned off.
  is_service INTEGER NOT NULL,
  also_notice INTEGER NOT NULL,
  send_at INTEGER,
  -- Who has got a test of this text, and when.
  tested_at INTEGER,
  job_id TEXT,
  -- JSON: the account and its name then.
  written_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX messages_open ON messages (id) WHERE state IN ('scheduled', 'sending');

CREATE TABLE message_recipients (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- JSON: what the placeholders become for this reader.
  filled TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'left_out', 'cancelled')),
  reason TEXT,
  delivery_id TEXT,
  -- Of the link that ends news for this reader.
  unsubscribe_hash TEXT,
  at INTEGER,
  PRIMARY KEY (message_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_recipients_account ON message_recipients (account_id);
CREATE INDEX message_recipients_waiting ON message_recipients (message_id) WHERE state = 'waiting';
CREATE UNIQUE INDEX message_recipients_link ON message_recipients (unsubscribe_hash) WHERE unsubscribe_hash IS NOT NULL;
