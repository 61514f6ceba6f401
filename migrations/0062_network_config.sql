-- The version of cloud-init network-config that a system gets: version 1 where nothing is known. Debian since 12 and Ubuntu
-- have netplan and got version 2 until now.
ALTER TABLE images ADD COLUMN network_config TEXT NOT NULL DEFAULT 'v1' CHECK (network_config IN ('v1', 'v2'));
UPDATE images SET network_config = 'v2'
WHERE lower(coalesce(catalogue_id, name)) GLOB '*debian*1[2-9]*' OR lower(coalesce(catalogue_id, name)) GLOB '*ubuntu*';

ALTER TABLE servers ADD COLUMN network_config TEXT NOT NULL DEFAULT 'v1' CHECK (network_config IN ('v1', 'v2'));
UPDATE servers SET network_config = 'v2'
WHERE image_id IN (SELECT id FROM images WHERE network_config = 'v2');

ALTER TABLE backups ADD COLUMN network_config TEXT NOT NULL DEFAULT 'v1' CHECK (network_config IN ('v1', 'v2'));
UPDATE backups SET network_config = 'v2'
WHERE image_id IN (SELECT id FROM images WHERE network_config = 'v2');
