-- A MAC address is unique among the workloads that hold something: one that was given back can come again, as by an import that
-- was rolled back. held_mac has the unique index; a workload that is gone has its own id there, and its record keeps the address.
ALTER TABLE workloads RENAME COLUMN mac TO held_mac;
ALTER TABLE workloads ADD COLUMN mac TEXT NOT NULL DEFAULT '';
DROP TRIGGER workloads_version;
DROP TRIGGER workloads_search_update;
UPDATE workloads SET mac = held_mac;
UPDATE workloads SET held_mac = id WHERE released_at IS NOT NULL;
CREATE TRIGGER mac_is_free_again AFTER UPDATE OF released_at ON workloads
WHEN OLD.released_at IS NULL AND NEW.released_at IS NOT NULL
BEGIN UPDATE workloads SET held_mac = id WHERE id = NEW.id; END;

-- As they were (0008, 0079), of the address that the record shows.
CREATE TRIGGER workloads_version AFTER UPDATE OF kind, number, owner_id, reseller_id, node_id, location_id, hostname, name, vcpus,
  memory_mb, disk_gb, gpus, mac, placement, lifecycle, failure, suspended_at, suspend_reason, power, created_at, terminated_at ON workloads
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.id; END;
DROP VIEW workload_search_texts;
CREATE VIEW workload_search_texts AS
SELECT kind, id, owner_id, listed,
  CASE WHEN names GLOB '*[^' || char(10, 13) || ' -~]*'
    THEN (SELECT lower(group_concat(coalesce(l.plain, substr(names, p.place, 1)), '' ORDER BY p.place))
      FROM search_places p LEFT JOIN search_letters l ON l.letter = substr(names, p.place, 1)
      WHERE p.place <= length(names))
    ELSE lower(names) END
  || char(13) || mac || char(13)
  || coalesce((SELECT group_concat(a.address, char(10) ORDER BY a.address) FROM addresses a WHERE a.workload_id = w.id), '') AS text
FROM (SELECT kind, id, owner_id, terminated_at IS NULL AS listed, hostname || char(10) || name AS names, lower(mac) AS mac FROM workloads) w;
CREATE TRIGGER workloads_search_update AFTER UPDATE OF id, kind, owner_id, hostname, name, mac, terminated_at ON workloads
  WHEN OLD.id <> NEW.id OR OLD.kind <> NEW.kind OR OLD.owner_id <> NEW.owner_id OR OLD.hostname <> NEW.hostname
    OR OLD.name <> NEW.name OR OLD.mac <> NEW.mac OR (OLD.terminated_at IS NULL) <> (NEW.terminated_at IS NULL)
BEGIN
  DELETE FROM workload_search WHERE kind = OLD.kind AND id = OLD.id;
  INSERT INTO workload_search SELECT * FROM workload_search_texts WHERE id = NEW.id;
END;
