-- Since when a storage pool does not answer its node: its figures are then the last that are known.
ALTER TABLE storage_pools ADD COLUMN silent_since INTEGER;
