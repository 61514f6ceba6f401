-- Servers may move from one location to the other: they get new addresses there.
CREATE TABLE location_moves (
  from_id TEXT NOT NULL REFERENCES locations (id),
  to_id TEXT NOT NULL REFERENCES locations (id),
  PRIMARY KEY (from_id, to_id),
  CHECK (from_id <> to_id)
) STRICT, WITHOUT ROWID;
-- JSON: { take, leave }, the ids of the addresses that a server gets by the move and of those that it gives up.
ALTER TABLE transfers ADD COLUMN readdressing TEXT;
