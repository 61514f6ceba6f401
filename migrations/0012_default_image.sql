-- The image that an order form chooses first. Staff decide; until then it is the first that was added.
ALTER TABLE images ADD COLUMN is_default INTEGER NOT NULL DEFAULT 0;
UPDATE images SET is_default = 1 WHERE id = (SELECT min(id) FROM images WHERE removed_at IS NULL AND published = 1);
CREATE UNIQUE INDEX images_default ON images (is_default) WHERE is_default = 1;
