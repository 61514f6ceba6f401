-- A move that waits for its time has no job yet: it is planned again, from what was asked for, when its time has come.
ALTER TABLE transfers ADD COLUMN starts_at INTEGER;
-- JSON: { nodeId, mode, maxMbps }.
ALTER TABLE transfers ADD COLUMN asked TEXT;
CREATE INDEX transfers_due ON transfers (starts_at) WHERE starts_at IS NOT NULL AND finished_at IS NULL;
