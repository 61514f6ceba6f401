-- The signature of the distribution over the list in which the checksum of a build was found: the fingerprint of its
-- key, and when it was made. NULL: the distribution does not sign, or it was not verified yet.
ALTER TABLE images ADD COLUMN signed_by TEXT;
ALTER TABLE images ADD COLUMN signed_at INTEGER;
ALTER TABLE image_builds ADD COLUMN signed_by TEXT;
ALTER TABLE image_builds ADD COLUMN signed_at INTEGER;
-- The error code beside check_failure.
ALTER TABLE images ADD COLUMN check_failure_code TEXT;
