-- An image of the catalogue keeps its id while its distribution publishes new builds.
CREATE TABLE image_builds (
  image_id TEXT NOT NULL,
  checksum TEXT NOT NULL,
  url TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  found_at INTEGER NOT NULL,
  PRIMARY KEY (image_id, checksum)
) STRICT;
INSERT INTO image_builds SELECT id, checksum, url, size_bytes, created_at FROM images;
ALTER TABLE images ADD COLUMN checked_at INTEGER;
ALTER TABLE images ADD COLUMN check_failure TEXT;
ALTER TABLE images ADD COLUMN check_failing_since INTEGER;
-- The build from which the system on the disk was installed; NULL: not known.
ALTER TABLE servers ADD COLUMN image_checksum TEXT;
UPDATE servers SET image_checksum = (SELECT checksum FROM images WHERE images.id = servers.image_id);
ALTER TABLE backups ADD COLUMN image_checksum TEXT;
UPDATE backups SET image_checksum = (SELECT checksum FROM images WHERE images.id = backups.image_id);
