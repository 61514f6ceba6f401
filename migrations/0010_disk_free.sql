-- The space that a node's storage really has left, in bytes, as last reported; null before the first report.
ALTER TABLE nodes ADD COLUMN pool_free_bytes INTEGER;
