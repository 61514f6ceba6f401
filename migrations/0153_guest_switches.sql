-- Servers whose addresses have changed outside, and whose system is to be told by its guest agent.
CREATE TABLE guest_switches (
  server_id TEXT PRIMARY KEY,
  -- JSON: the addresses that it gives up, as its system has them, without prefix lengths.
  leave TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'given_up')),
  -- Why the last try did nothing, in words.
  error TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  since INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  -- It is given up then; NULL: never.
  ends_at INTEGER
) STRICT;
CREATE INDEX guest_switches_waiting ON guest_switches (next_at) WHERE state = 'waiting';
