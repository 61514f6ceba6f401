-- Servers that were moved by imports are checked: when the next time is, how often it was tried, and when a person asked.
ALTER TABLE import_moves ADD COLUMN check_at INTEGER;
ALTER TABLE import_moves ADD COLUMN check_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE import_moves ADD COLUMN check_asked_at INTEGER;
CREATE INDEX import_moves_check ON import_moves (check_at) WHERE check_at IS NOT NULL;
-- Those that have moved and were never checked.
CREATE INDEX import_moves_unchecked ON import_moves (state) WHERE checked_at IS NULL AND check_at IS NULL;
