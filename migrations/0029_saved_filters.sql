-- Filters of a list of the panel that a person gave a name. `query` is what stands in the address of the page.
CREATE TABLE saved_filters (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  list TEXT NOT NULL,
  name TEXT NOT NULL,
  query TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (account_id, list, name)
) STRICT;
