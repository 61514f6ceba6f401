-- Storage that several nodes reach, such as a pool of Ceph, in the words that each of them has for it.
ALTER TABLE storage_pools ADD COLUMN storage TEXT;
CREATE INDEX storage_pools_shared ON storage_pools (storage) WHERE storage IS NOT NULL;
