-- A server that was imported keeps the bus of its disk and the model of its network card, for which its system has
-- drivers; so does what is restored from its backups. A reinstallation brings virtio.
ALTER TABLE servers ADD COLUMN disk_bus TEXT NOT NULL DEFAULT 'virtio';
ALTER TABLE servers ADD COLUMN nic_model TEXT NOT NULL DEFAULT 'virtio';
ALTER TABLE backups ADD COLUMN disk_bus TEXT NOT NULL DEFAULT 'virtio';
ALTER TABLE backups ADD COLUMN nic_model TEXT NOT NULL DEFAULT 'virtio';
