-- How long the copy of a move took, in ms: its speed says how long the next one takes. Null: unknown, or not copied yet.
ALTER TABLE transfers ADD COLUMN copy_ms INTEGER;
