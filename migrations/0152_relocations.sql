-- Owners of servers may choose this move themselves.
ALTER TABLE location_moves ADD COLUMN offered INTEGER NOT NULL DEFAULT 0;
-- The owner of the server asked for the move.
ALTER TABLE transfers ADD COLUMN by_owner INTEGER NOT NULL DEFAULT 0;
-- The addresses that the server gave up by the move are kept until then; null: they are not.
ALTER TABLE transfers ADD COLUMN held_until INTEGER;
CREATE INDEX transfers_held ON transfers (server_id) WHERE held_until IS NOT NULL;
