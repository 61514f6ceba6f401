-- The machine on which the system of an image runs. `is_rescue`: rescue systems start from it; at most one image is.
ALTER TABLE images ADD COLUMN machine TEXT NOT NULL DEFAULT 'q35' CHECK (machine IN ('q35', 'pc'));
ALTER TABLE images ADD COLUMN firmware TEXT NOT NULL DEFAULT 'bios' CHECK (firmware IN ('bios', 'uefi', 'uefi_secure'));
ALTER TABLE images ADD COLUMN tpm INTEGER NOT NULL DEFAULT 0;
ALTER TABLE images ADD COLUMN is_rescue INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX images_rescue ON images (is_rescue) WHERE is_rescue = 1;

-- The machine on which a server was installed: a later change of its image does not change it.
ALTER TABLE servers ADD COLUMN machine TEXT NOT NULL DEFAULT 'q35' CHECK (machine IN ('q35', 'pc'));
ALTER TABLE servers ADD COLUMN firmware TEXT NOT NULL DEFAULT 'bios' CHECK (firmware IN ('bios', 'uefi', 'uefi_secure'));
ALTER TABLE servers ADD COLUMN tpm INTEGER NOT NULL DEFAULT 0;
ALTER TABLE servers ADD COLUMN boot_first TEXT NOT NULL DEFAULT 'disk' CHECK (boot_first IN ('disk', 'cd'));
ALTER TABLE servers ADD COLUMN iso_id TEXT;
CREATE INDEX servers_iso ON servers (iso_id) WHERE iso_id IS NOT NULL;
-- ISOs for CD drives. Without an owner it is in the library that everybody sees.
CREATE TABLE isos (
  id TEXT PRIMARY KEY,
  owner_id TEXT,
  reseller_id TEXT,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  checksum TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT;
CREATE INDEX isos_owner ON isos (owner_id) WHERE removed_at IS NULL;
-- The nodes that have downloaded an ISO, which delete it when it is removed.
CREATE TABLE iso_copies (
  iso_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  PRIMARY KEY (iso_id, node_id)
) STRICT, WITHOUT ROWID;

-- JSON of the rescue system that it is in: the generation of its disk, the space held for it, its machine. Null: none.
ALTER TABLE servers ADD COLUMN rescue TEXT;
