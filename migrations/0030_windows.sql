-- The family of an image's system, and of the system on a server: Windows reads another seed than Linux, and needs
-- another clock and other devices.
ALTER TABLE images ADD COLUMN os TEXT NOT NULL DEFAULT 'linux' CHECK (os IN ('linux', 'windows'));
ALTER TABLE servers ADD COLUMN os TEXT NOT NULL DEFAULT 'linux' CHECK (os IN ('linux', 'windows'));

-- When a server was first seen running with a seed that waits to be read; Windows reads it minutes after its start.
ALTER TABLE server_guests ADD COLUMN seed_seen_at INTEGER;
CREATE TRIGGER workloads_seed_off AFTER UPDATE OF power ON workloads
  WHEN NEW.power IN ('stopped', 'crashed', 'absent') AND OLD.power IS NOT NEW.power
BEGIN UPDATE server_guests SET seed_seen_at = NULL WHERE server_id = NEW.id AND seed_seen_at IS NOT NULL; END;
