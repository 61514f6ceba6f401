-- A freed address rests for some hours before another workload gets it. rests_until: when it can be given again; null: it can be.
ALTER TABLE pools ADD COLUMN quarantine_hours INTEGER NOT NULL DEFAULT 24;
ALTER TABLE addresses ADD COLUMN rests_until INTEGER;
DROP INDEX addresses_free;
CREATE INDEX addresses_free ON addresses (pool_id, place) WHERE workload_id IS NULL AND reserved_for IS NULL AND rests_until IS NULL;
CREATE INDEX addresses_resting ON addresses (rests_until) WHERE rests_until IS NOT NULL;
CREATE INDEX addresses_resting_of_pool ON addresses (pool_id, rests_until)
  WHERE workload_id IS NULL AND reserved_for IS NULL AND rests_until IS NOT NULL;
