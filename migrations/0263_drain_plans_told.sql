-- The owners who were told when the drain of a node begins, and when it was to end: they are told of another time too.
ALTER TABLE drain_plans ADD COLUMN told TEXT;
