-- When the work that a message announces begins and ends; the texts name both in the time zone of each reader.
ALTER TABLE messages ADD COLUMN work_starts_at INTEGER;
ALTER TABLE messages ADD COLUMN work_ends_at INTEGER;
