-- The limit of a move may be changed on its way. The time of a change that the node which copies has not heard yet.
ALTER TABLE transfers ADD COLUMN limit_changed_at INTEGER;
