-- Changes that weaken a protection: each waits for a day, unless a second owner confirms it.
CREATE TABLE weakenings (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  from_words TEXT NOT NULL,
  to_words TEXT NOT NULL,
  value TEXT,
  asked_by TEXT NOT NULL REFERENCES accounts (id),
  asked_by_name TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  takes_effect_at INTEGER NOT NULL,
  decided_at INTEGER,
  decision TEXT CHECK (decision IN ('confirmed', 'taken_back', 'replaced', 'in_time')),
  decided_by_name TEXT,
  CHECK ((decided_at IS NULL) = (decision IS NULL))
) STRICT;
CREATE UNIQUE INDEX weakenings_waiting ON weakenings (kind, name) WHERE decided_at IS NULL;
